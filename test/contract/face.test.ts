import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSimApiServer } from '../../simulator/apiserver/server.ts';
import { type SimCertificates, createCertificates } from '../../simulator/network/certificates.ts';
import type { HttpsAuth } from '../../simulator/network/http-exchange.ts';
import { type SimHttpsServer, serveHttps } from '../../simulator/network/https.ts';
import { type KubeconfigInit, kubeconfigText } from '../../simulator/network/kubeconfig.ts';
import type { Call } from '../../src/kubernetes/api/call.ts';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { ShootConnector } from '../../src/kubernetes/api/shoot-connection.ts';
import { createShootConnector } from '../../src/kubernetes/connection/shoot-connector.ts';
import { systemClock } from '../../src/process/clock.ts';

// The simulator's HTTPS server with the program's own connections: a kubeconfig of the simulator must work as one of a shoot does.

const clock = systemClock();
const version: Call<string> = {
  method: 'GET',
  path: '/version',
  decode: (json) => (json as { gitVersion: string }).gitVersion,
};

let certificates: SimCertificates;
let face: SimHttpsServer;

beforeAll(async () => {
  certificates = await createCertificates({ now: Date.now() });
});

afterEach(async () => {
  await face.close();
});

const start = async (auth: HttpsAuth): Promise<void> => {
  const server = createSimApiServer({ clock });
  // The kubeconfig's URL has a path, as behind a proxy.
  const kube: Kube = {
    request: (request) => server.request({ ...request, path: request.path.replace('/shoot--a', '') }),
  };
  face = await serveHttps({ kube, certificates, auth });
};

const ask = async (connector: ShootConnector, user: KubeconfigInit['user']): Promise<string> => {
  const connection = connector.clientFor(kubeconfigText({ server: `${face.url}/shoot--a`, ca: certificates.ca, user }));
  try {
    const { value } = await connection.client.call(version, { signal: new AbortController().signal, timeoutMs: 5_000 });
    return value;
  } finally {
    connection.close();
  }
};

const connector = (): ShootConnector => createShootConnector({ clock, userAgent: 'contract-suite' });

describe('a kubeconfig of the simulator', () => {
  it('authenticates with a client certificate, on new connections with resumed TLS sessions', async () => {
    await start({ clientCertificates: true });
    const mine = connector();
    const user = await certificates.client('probe', ['system:masters']);
    for (let run = 0; run < 3; run += 1) expect(await ask(mine, user)).toMatch(/^v1\./);
    expect(face.stats()).toMatchObject({ connections: 3, handshakes: 3, requests: 3, resumed: 2 });
  });

  it('authenticates with a token', async () => {
    await start({ tokens: ['good'] });
    expect(await ask(connector(), { token: 'good' })).toMatch(/^v1\./);
    await expect(ask(connector(), { token: 'bad' })).rejects.toMatchObject({ code: 'Unauthorized', status: 401 });
  });

  it('works again once a server that refused connections accepts them', async () => {
    await start({ tokens: ['good'] });
    const mine = connector();
    await face.setReachability('refused');
    await expect(ask(mine, { token: 'good' })).rejects.toMatchObject({ code: 'ConnectionError' });
    await face.setReachability('open');
    expect(await ask(mine, { token: 'good' })).toMatch(/^v1\./);
  });
});
