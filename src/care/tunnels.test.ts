import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { type SimApiServer, createSimApiServer } from '../../simulator/apiserver/server.ts';
import { createCertificates } from '../../simulator/network/certificates.ts';
import { type SimHttpsServer, serveHttps } from '../../simulator/network/https.ts';
import { kubeconfigText } from '../../simulator/network/kubeconfig.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createTunnelConnector } from '../kubernetes/connection/port-forward.ts';
import { systemClock } from '../process/clock.ts';
import { systemRandom } from '../process/random.ts';

// Tests the client's tunnels against the simulator's API server, over a network.

const clock = systemClock();
const tunnels = createTunnelConnector({ clock, random: systemRandom(), userAgent: 'test' });
let api: SimApiServer;
let face: SimHttpsServer;
let ca: string;

beforeAll(async () => {
  const certificates = await createCertificates({ now: clock.now() });
  ({ ca } = certificates);
  api = createSimApiServer({ clock: createVirtualClock() });
  face = await serveHttps({ kube: api, certificates, auth: { tokens: ['t'] } });
  for (const [name, spec] of [
    ['placed', { nodeName: 'node' }],
    ['unplaced', {}],
  ] as const) {
    const containers = [{ name: 'main', image: 'none' }];
    api.store.put(simKinds.Pod, { metadata: { namespace: 'kube-system', name }, spec: { ...spec, containers } });
  }
});
afterAll(() => face.close());

const connect = (pod: string, signal = new AbortController().signal, token = 't'): Promise<void> =>
  tunnels.connect(
    kubeconfigText({ server: face.url, ca, user: { token } }),
    { namespace: 'kube-system', pod, port: 22 },
    signal,
  );

describe('a tunnel', () => {
  it('connects to a pod that has a node, and closes its connection', async () => {
    const before = face.stats();
    await connect('placed');
    await connect('placed');
    const { connections, requests } = face.stats();
    expect({ connections, requests }).toEqual({ connections: before.connections + 2, requests: before.requests + 2 });
  });

  it.each([
    ['unplaced', 't', '400 BadRequest: pod unplaced does not have a host assigned'],
    ['missing', 't', '404 NotFound: pods "missing" not found'],
    ['placed', 'wrong', '401 Unauthorized: Unauthorized'],
  ])('to the pod %s with the token %s fails: %s', async (pod, token, message) => {
    const path = `GET /api/v1/namespaces/kube-system/pods/${pod}/portforward`;
    await expect(connect(pod, undefined, token)).rejects.toThrow(`${path}: ${message}`);
  });

  it('ends with its signal if the server does not respond', async () => {
    await face.setReachability('silent');
    const stop = new AbortController();
    const reason = new Error('5 s are over');
    const failing = connect('placed', stop.signal);
    stop.abort(reason);
    await expect(failing).rejects.toBe(reason);
    await face.setReachability('open');
    await connect('placed');
  });
});
