import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { kubeconfigOf } from '../../test/doubles/kubeconfig.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import { temporaryDirectory } from '../../test/doubles/temporary-directory.ts';
import { startTestServer } from '../../test/doubles/test-server.ts';
import { pausedAnnotation } from '../annotations/pause.ts';
import { runPause, runResume } from './pause.ts';

const hourMs = 3_600_000;
/** Time of the seed, which this machine is two hours behind or ahead of. */
const seedAt = (aheadMs: number): number => Math.floor((Date.now() + aheadMs) / 1_000) * 1_000;
const timeOf = (wall: number): string => new Date(wall).toISOString().replace('.000', '');

const runOn = async (at: number, answers: Readonly<Record<string, unknown>>) => {
  const patches: string[] = [];
  const handler: RequestListener = (request, response) => {
    request.on('data', (chunk: Buffer) => {
      if (request.method === 'PATCH') patches.push(chunk.toString());
    });
    request.on('end', () => {
      const path = (request.url ?? '').replace(/\?.*/, '');
      response.setHeader('date', new Date(at).toUTCString());
      response.statusCode = Object.hasOwn(answers, path) ? 200 : 404;
      response.end(JSON.stringify(answers[path] ?? { kind: 'Status', code: 404, reason: 'NotFound' }));
    });
  };
  const { port } = await startTestServer({ handler });
  const kubeconfig = join(temporaryDirectory(), 'kubeconfig');
  writeFileSync(kubeconfig, kubeconfigOf({ server: `http://127.0.0.1:${String(port)}` }));
  const stop = new AbortController().signal;
  const command = { kubeconfig, stop, env: {}, version: '1', timeoutMs: 5_000, progress: () => undefined };
  return { command: { ...command, namespace: 'garden', logger: createRecordingLogger() }, patches };
};

const garden = '/api/v1/namespaces/garden';
const listOf = (...items: readonly object[]) => ({ kind: 'List', metadata: { resourceVersion: '1' }, items });

describe("on a machine whose clock is not the seed's", () => {
  it('a pause ends by the clock of the seed', async () => {
    const now = seedAt(2 * hourMs);
    const { command, patches } = await runOn(now, { '/version': {}, [garden]: {} });
    const [said] = await runPause({ ...command, forMs: hourMs, reason: 'LB' });
    expect(said).toContain(`paused until ${timeOf(now + hourMs)}`);
    expect(patches.join()).toContain(timeOf(now + hourMs));
  });

  it('a resume says that the pause has ended, also if the configuration cannot be read', async () => {
    const now = seedAt(-2 * hourMs);
    const pause = JSON.stringify({ until: timeOf(now + hourMs), reason: 'LB', by: 'kim' });
    const { command, patches } = await runOn(now, {
      [garden]: {},
      '/api/v1/namespaces': listOf({ metadata: { name: 'garden', annotations: { [pausedAnnotation]: pause } } }),
      [`${garden}/configmaps`]: listOf({ metadata: { name: 'dwd' }, data: { 'config.yaml': 'probeIntervall: 1s' } }),
    });
    expect(await runResume(command)).toEqual([
      'all shoots: the pause has ended',
      'all shoots: whether the configuration pauses them is not known: ConfigMap dwd contains no valid configuration',
    ]);
    expect(patches).toHaveLength(1);
  });
});
