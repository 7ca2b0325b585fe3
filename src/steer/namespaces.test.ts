import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { kubeconfigOf } from '../../test/doubles/kubeconfig.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { temporaryDirectory } from '../../test/doubles/temporary-directory.ts';
import { startTestServer } from '../../test/doubles/test-server.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { currentUser } from './namespaces.ts';
import { runPause } from './pause.ts';

it('names no user if the API server refuses to report one, or cannot', async () => {
  const who = (code: ApiError['code']) => {
    const client = { call: async () => Promise.reject(new ApiError({ code, message: 'no' })) };
    return currentUser({ client, options: { signal: new AbortController().signal } }, { version: '1.0.0' });
  };
  const codes = ['Forbidden', 'NotFound', 'ServerError', 'Timeout'] as const;
  expect(await Promise.all(codes.map(who))).toEqual(codes.map(() => 'dwd 1.0.0'));
  await expect(who('Unauthorized')).rejects.toThrow('no');
});

it('a pause waits no longer than its timeout for a silent API server', async () => {
  const api = await startTestServer({ handler: () => undefined });
  const kubeconfig = join(temporaryDirectory(), 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf({ server: `http://127.0.0.1:${String(api.port)}` }));
  const paused = runPause({
    ...{ namespace: 'garden', reason: 'LB', timeoutMs: 20, kubeconfig, env: {}, version: '1' },
    ...{ logger: createRecordingLogger(), progress: () => undefined, stop: new AbortController().signal },
  });
  await expect(paused).rejects.toMatchObject({
    name: 'CommandError',
    message: expect.stringContaining('20 ms') as string,
  });
});
