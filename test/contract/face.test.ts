import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Call } from '../../src/domain/index.ts';
import { createShootConnector } from '../../src/kube/index.ts';
import type { ShootConnector } from '../../src/ports/index.ts';
import { systemClock } from '../../src/runtime/index.ts';
import {
  createCertificates,
  createSimApiServer,
  type HttpsAuth,
  type HttpsFace,
  type KubeconfigInit,
  kubeconfigText,
  mountKubes,
  serveHttps,
  type SimCertificates,
} from '../../src/sim/index.ts';

// The HTTPS face against the program's own connections: what a kubeconfig of the simulator promises must work as it does on a shoot.

const clock = systemClock();
const version: Call<string> = {
  method: 'GET',
  path: '/version',
  decode: (json) => (json as { gitVersion: string }).gitVersion,
};

let certificates: SimCertificates;
let face: HttpsFace;

beforeAll(async () => {
  certificates = await createCertificates({ now: Date.now() });
});

afterEach(async () => {
  await face.close();
});

const start = async (auth: HttpsAuth): Promise<void> => {
  const server = createSimApiServer({ clock });
  const kube = mountKubes((name) => (name === 'shoot--a' ? server : undefined));
  face = await serveHttps({ kube, certificates, auth });
};

const ask = async (connector: ShootConnector, user: NonNullable<KubeconfigInit['user']>): Promise<string> => {
  const connection = connector.connect(kubeconfigText({ server: `${face.url}/shoot--a`, ca: certificates.ca, user }));
  try {
    const { value } = await connection.client.call(version, { signal: new AbortController().signal, timeoutMs: 5_000 });
    return value;
  } finally {
    connection.close();
  }
};

const connector = (): ShootConnector => createShootConnector({ clock, userAgent: 'contract-suite' });

describe('a kubeconfig of the simulator', () => {
  it('with a client certificate: new connections, resumed sessions', async () => {
    await start({ clientCertificates: true });
    const mine = connector();
    const user = await certificates.client('probe', ['system:masters']);
    for (let run = 0; run < 3; run += 1) expect(await ask(mine, user)).toMatch(/^v1\./);
    expect(face.stats()).toMatchObject({ connections: 3, handshakes: 3, requests: 3, resumed: 2 });
  });

  it('with a token', async () => {
    await start({ tokens: ['good'] });
    expect(await ask(connector(), { token: 'good' })).toMatch(/^v1\./);
    await expect(ask(connector(), { token: 'bad' })).rejects.toMatchObject({ code: 'Unauthorized', status: 401 });
  });

  it('of a server that refuses connections, and then takes them again', async () => {
    await start({ tokens: ['good'] });
    const mine = connector();
    await face.setReachability('refused');
    await expect(ask(mine, { token: 'good' })).rejects.toMatchObject({ code: 'ConnectionError' });
    await face.setReachability('open');
    expect(await ask(mine, { token: 'good' })).toMatch(/^v1\./);
  });
});
