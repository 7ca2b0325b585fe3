import { expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { createScriptedKube } from '../../test/doubles/scripted-kube.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { clusterStack, createKubeClient, staticCredentials } from '../kubernetes/client/index.ts';
import { act } from './act.ts';
import { badPod } from './testing/pods.ts';

it('does not send a delete again whose connection resets: it may have taken effect, which the 409 or 404 of a second one would hide', async () => {
  const [clock, server] = [createVirtualClock(), createScriptedKube()];
  const kube = clusterStack(server, { logger: createRecordingLogger(), credentials: staticCredentials(undefined) });
  const client = createKubeClient({ kube, clock });
  const { pod } = badPod('api-1');
  const { signal } = new AbortController();
  const outcome = act({ client, dryRun: false, signal }, pod, () => true);
  await clock.settle();
  const cause = { code: 'ECONNRESET', phase: 'waiting for the answer' };
  server.take().fail(new ApiError({ code: 'ConnectionError', message: 'reset', cause }));
  await clock.settle();
  expect(server.waiting).toBe(0);
  expect(await outcome).toMatchObject({ kind: 'failed', error: { code: 'ConnectionError' } });
});
