import type { RequestListener } from 'node:http';
import type { ServerOptions } from 'node:https';
import { describe, expect, it } from 'vitest';
import { clusterAt, kubeconfigOf } from '../../../test/doubles/kubeconfig.ts';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { startTestServer } from '../../../test/doubles/test-server.ts';
import type { Call } from '../api/call.ts';
import { KubeconfigError } from '../api/errors.ts';
import { createKubeconfigCache } from './kubeconfig-cache.ts';
import { createShootConnector, withShootPolicy } from './shoot-connector.ts';

const certificates = await createCertificates({ now: Date.now() });
const client = await certificates.client('prober');

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const { signal } = new AbortController();
const version: Call<unknown> = { method: 'GET', path: '/version', decode: (json) => json };

const createBench = async (
  options: { readonly tls?: ServerOptions; readonly handler?: RequestListener; readonly mostKubeconfigs?: number } = {},
) => {
  const { certificate, key } = certificates.serving;
  const server = await startTestServer({
    tls: { cert: certificate, key, ca: certificates.ca, requestCert: true, rejectUnauthorized: true, ...options.tls },
    handler: options.handler ?? ((_request, response) => response.end('{"major":"1"}')),
  });
  const clock = createVirtualClock();
  const connector = createShootConnector({
    clock,
    userAgent: 'dependency-watchdog/test',
    known: createKubeconfigCache({ most: options.mostKubeconfigs }),
  });
  /** Starts a run, sends `requests` one after the other, and ends the run. */
  const run = async (kubeconfig: string, requests = 1): Promise<void> => {
    const connection = connector.clientFor(kubeconfig);
    for (let count = 0; count < requests; count += 1) {
      await connection.client.call(version, { signal, timeoutMs: 5_000 });
    }
    connection.close();
  };
  const kubeconfig = (token = 't'): string =>
    kubeconfigOf(clusterAt(`https://${server.host}:${server.port}`, certificates.ca), {
      'client-certificate-data': base64(client.certificate),
      'client-key-data': base64(client.key),
      token,
    });
  return { server, clock, connector, kubeconfig, run };
};

it.each([
  ['599', 599_000],
  ['999999999', 600_000],
])('rule 15: a Retry-After of a shoot of %s s is read as %d ms', async (seconds, ms) => {
  const { connector, kubeconfig } = await createBench({
    handler: (_request, response) => response.writeHead(429, { 'retry-after': seconds }).end(),
  });
  const connection = connector.clientFor(kubeconfig());
  const answer = connection.client.call(version, { signal, timeoutMs: 5_000 });
  await expect(answer).rejects.toMatchObject({ retryAfterMs: ms });
  connection.close();
});

it('rule 30: an http:// server is refused, unless the operator allows it', async () => {
  const server = await startTestServer({ handler: (_request, response) => response.end('{"major":"1"}') });
  const connector = createShootConnector({ clock: createVirtualClock(), userAgent: 'dependency-watchdog/test' });
  const kubeconfig = kubeconfigOf({ server: `http://${server.host}:${String(server.port)}` });
  const refused = /server: is http:\/\/.*use https:\/\/, or set allowInsecureShoots: true$/;
  for (const policy of [undefined, { allowInsecureShoots: false }]) {
    expect(() => connector.clientFor(kubeconfig, policy)).toThrow(refused);
  }
  const connection = withShootPolicy(connector, { allowInsecureShoots: true }).clientFor(kubeconfig);
  await connection.client.call(version, { signal, timeoutMs: 5_000 });
  connection.close();
  expect(server.stats().requests).toBe(1);
  // The permission is not cached, because the configuration may change.
  expect(() => connector.clientFor(kubeconfig)).toThrow(refused);
});

describe('prober 2.4: connections of a run', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'each run has a new connection that resumes the session (%s)',
    async (only) => {
      const { server, kubeconfig, run, clock } = await createBench({ tls: { minVersion: only, maxVersion: only } });
      for (let count = 0; count < 10; count += 1) await run(kubeconfig(), 2);
      await server.idle();
      expect(server.stats()).toMatchObject({
        connections: 10,
        handshakes: 10,
        resumed: 9,
        requests: 20,
        openConnections: 0,
      });
      expect(clock.pending).toBe(0);
    },
  );

  it('requests of one run share the connection even if they are sent at the same time', async () => {
    const { server, kubeconfig, connector } = await createBench();
    const connection = connector.clientFor(kubeconfig());
    await Promise.all([1, 2, 3].map(() => connection.client.call(version, { signal, timeoutMs: 5_000 })));
    expect(server.stats()).toMatchObject({ connections: 1, requests: 3 });
    connection.close();
  });

  it('a changed kubeconfig does not resume the session of the old one: its server is verified again', async () => {
    const { server, kubeconfig, run } = await createBench();
    await run(kubeconfig('one'));
    await run(kubeconfig('one'));
    expect(server.stats().resumed).toBe(1);
    await run(kubeconfig('two'));
    expect(server.stats()).toMatchObject({ handshakes: 3, resumed: 1 });
  });

  it('the cache of kubeconfigs is bounded: the least recently used is dropped', async () => {
    const { server, kubeconfig, run } = await createBench({ mostKubeconfigs: 2 });
    const resumed = async (token: string): Promise<boolean> => {
      const before = server.stats().resumed;
      await run(kubeconfig(token));
      return server.stats().resumed > before;
    };
    expect([await resumed('a'), await resumed('b'), await resumed('a')]).toEqual([false, false, true]);
    // Drops b.
    expect([await resumed('c'), await resumed('a'), await resumed('b')]).toEqual([false, true, false]);
  });

  it('a failed run does not affect the next one', async () => {
    let broken = true;
    const { server, kubeconfig, run } = await createBench({
      handler: (request, response) => {
        if (broken) request.socket.destroy();
        else response.end('{}');
      },
    });
    await expect(run(kubeconfig())).rejects.toMatchObject({ code: 'ConnectionError' });
    // Probes are not retried.
    expect(server.stats().requests).toBe(1);
    broken = false;
    await run(kubeconfig());
  });
});

describe('prober 3: the kubeconfig is a secret', () => {
  it('no error contains the address of the server or our credentials', async () => {
    const answers: RequestListener[] = [
      (request) => request.socket.destroy(),
      (_request, response) => response.writeHead(401).end('no'),
      (_request, response) => response.writeHead(500).end('no'),
      (_request, response) => response.writeHead(302, { location: 'https://127.0.0.1/' }).end(),
      (_request, response) => response.end('no json'),
      () => undefined,
    ];
    for (const handler of answers) {
      const { kubeconfig, connector, server, clock } = await createBench({ handler });
      const connection = connector.clientFor(kubeconfig('GEHEIM'));
      const outcome = connection.client.call(version, { signal, timeoutMs: 5_000 }).catch((error: unknown) => error);
      while (server.stats().requests === 0) await new Promise((resolve) => setImmediate(resolve));
      await clock.settle();
      if (handler === answers.at(-1)) await clock.advance(5_000);
      const error = (await outcome) as Error;
      expect(error.name).toBe('ApiError');
      const texts = [error.message, error.stack, JSON.stringify(error.cause)].join();
      for (const secret of ['GEHEIM', '127.0.0.1', String(server.port)]) expect(texts).not.toContain(secret);
      connection.close();
      await server.close();
      const refused = connector.clientFor(kubeconfig('GEHEIM'));
      const again = await refused.client.call(version, { signal, timeoutMs: 5_000 }).catch((thrown: unknown) => thrown);
      expect((again as Error).message).toBe(
        'GET /version: the connection was refused; nothing listens there (ECONNREFUSED while connecting, API server of the kubeconfig, ' +
          'whose server is localhost: that is the pod or machine of this program itself)',
      );
    }
  });

  it('a refused kubeconfig is refused every time', async () => {
    const { connector, kubeconfig } = await createBench();
    const bad = kubeconfig().replace('"token":', '"exec":{"command":"sh"},"token":');
    for (let count = 0; count < 2; count += 1) {
      expect(() => connector.clientFor(bad)).toThrow(KubeconfigError);
      expect(() => connector.clientFor(bad)).toThrow('users[0].user.exec');
    }
  });
});
