import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { clusterAt, kubeconfigOf } from '../../../test/doubles/kubeconfig.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import { temporaryDirectory } from '../../../test/doubles/temporary-directory.ts';
import { startTestServer } from '../../../test/doubles/test-server.ts';
import type { Call } from '../api/call.ts';
import { createKubeClient } from '../client/client.ts';
import { loadOperatorKubeconfig } from '../kubeconfig/operator.ts';
import { connectCluster } from './cluster-connection.ts';

const certificates = await createCertificates({ now: Date.now() });

const call: Call<unknown> = { method: 'GET', path: '/api', decode: (json) => json };

/** Connects by a kubeconfig file of an operator, with the token `one` from a file. */
const connect = async (port: number) => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'token'), 'one');
  const cluster = clusterAt(`https://localhost:${port}`, certificates.ca);
  writeFileSync(join(directory, 'kubeconfig'), kubeconfigOf(cluster, { tokenFile: 'token' }));
  const clock = createVirtualClock();
  const logger = createRecordingLogger();
  const path = join(directory, 'kubeconfig');
  const access = await loadOperatorKubeconfig({ path, env: {}, homedir: () => directory, clock });
  const connection = connectCluster({ access, clock, logger, userAgent: 'test' });
  onTestFinished(() => connection.close());
  return { directory, clock, logger, client: createKubeClient({ kube: connection, clock }) };
};

it('connectCluster combines the policies: token file, 401, reset, warnings', async () => {
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
