import type { ServerResponse } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SimCertificates, createCertificates } from '../../../simulator/network/certificates.ts';
import { clusterAt, kubeconfigOf } from '../../../test/doubles/kubeconfig.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import { startTestServer } from '../../../test/doubles/test-server.ts';
import type { Call } from '../api/call.ts';
import { createKubeClient } from '../client/client.ts';
import { loadOperatorKubeconfig } from '../kubeconfig/operator.ts';
import { connectCluster } from './cluster-connection.ts';

let certificates: SimCertificates;
beforeAll(async () => {
  certificates = await createCertificates({ now: Date.now() });
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const call: Call<unknown> = { method: 'GET', path: '/api', decode: (json) => json };

/** Connects by a kubeconfig file of an operator, with the token `one` from a file. */
const connect = async (port: number) => {
  const directory = mkdtempSync(join(tmpdir(), 'cluster-'));
  closers.push(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, 'token'), 'one');
  const cluster = clusterAt(`https://localhost:${port}`, certificates.ca);
  writeFileSync(join(directory, 'kubeconfig'), kubeconfigOf(cluster, { tokenFile: 'token' }));
  const clock = createVirtualClock();
  const logger = createRecordingLogger();
  const path = join(directory, 'kubeconfig');
  const access = await loadOperatorKubeconfig({ path, env: {}, homedir: () => directory, clock });
  const connection = connectCluster({ access, clock, logger, userAgent: 'test' });
  closers.unshift(() => connection.close());
  return { directory, clock, logger, client: createKubeClient({ kube: connection, clock }) };
};

describe('connectCluster', () => {
  it('combines the policies: token file, 401, reset, warnings', async () => {
    let valid = 'one';
    let resets = 0;
    const { certificate, key } = certificates.serving;
    const server = await startTestServer({
      tls: { cert: certificate, key },
      handler: (request, response) => {
        if (resets > 0) {
          resets -= 1;
          request.socket.destroy();
        } else if (request.headers.authorization !== `Bearer ${valid}`) {
          // The new token is written a moment after the old one expired.
          writeFileSync(join(directory, 'token'), valid);
          response.writeHead(401).end('{}');
        } else response.setHeader('warning', '299 - "old API"').end('{"ok":true}');
      },
    });
    closers.push(() => server.close());
    const { client, directory, logger } = await connect(server.port);
    const options = { signal: new AbortController().signal, timeoutMs: 5_000 };
    const ask = async (): Promise<unknown> => (await client.call(call, options)).value;

    expect(await ask()).toEqual({ ok: true });
    resets = 1;
    expect(await ask()).toEqual({ ok: true });
    valid = 'two';
    expect(await ask()).toEqual({ ok: true });
    expect(await ask()).toEqual({ ok: true });
    expect(server.stats().requests).toBe(6);
    expect(logger.at('warn')).toEqual(['API server warns']);

    resets = 2;
    await expect(ask()).rejects.toMatchObject({ code: 'ConnectionError' });
  });

  it.each([
    { what: 'a timeout', limits: { timeoutMs: 5_000 } },
    { what: 'a timeout that starts with the sending', limits: { timeoutMs: 30_000, sentTimeoutMs: 5_000 } },
  ])('uses no earlier connection after $what, because it may be half-open', async ({ limits }) => {
    let held: ServerResponse[] | undefined = [];
    const { certificate, key } = certificates.serving;
    const server = await startTestServer({
      tls: { cert: certificate, key },
      handler: (_request, response) => {
        if (held === undefined) response.end('{}');
        else held.push(response);
      },
    });
    closers.push(() => server.close());
    const { client, clock } = await connect(server.port);
    const { signal } = new AbortController();
    const ask = () => client.call(call, { signal, timeoutMs: 60_000 });
    const arrived = async (count: number) => {
      while (held?.length !== count) await clock.settle();
    };
    const both = [ask(), ask()];
    await arrived(2);
    for (const response of held) response.end('{}');
    await Promise.all(both);
    expect(server.stats().connections).toBe(2);

    held = [];
    const hanging = client.call(call, { signal, ...limits }).catch((error: unknown) => error);
    await arrived(1);
    await clock.advance(5_000);
    expect(await hanging).toMatchObject({ code: 'Timeout' });
    held = undefined;
    await ask();
    expect(server.stats().connections).toBe(3);
  });
});
