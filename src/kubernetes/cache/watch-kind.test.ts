import { expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import { createRecordingMeter } from '../../../test/doubles/recording-meter.ts';
import { createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import { decodeMeta, decodeObject } from '../api/decode.ts';
import { createKubeClient } from '../client/index.ts';
import { watchKind } from './watch-kind.ts';
import { createWatchRegistry } from './watch-registry.ts';

const ref = { apiVersion: 'x.io/v1', kind: 'Wheel', name: 'front' };
const notServed = { kind: 'not-served', problem: 'the API server does not serve Wheel of x.io/v1' };
const unscaled = { kind: 'not-served', problem: 'Wheel of x.io/v1 has no scale subresource' };
const served = { kind: 'served', resource: 'wheels', namespaced: true, hasScale: true };
const resourcesOf = (...names: readonly string[]) => ({
  resources: names.map((name) => ({ name, kind: 'Wheel', namespaced: true })),
});

const start = () => {
  const [clock, kube] = [createVirtualClock(), createScriptedKube()];
  const results: unknown[] = [];
  const watch = watchKind<string>(
    {
      ref,
      key: 'wheels',
      project: (json, path) => decodeMeta(decodeObject(json, path), path).name,
      onServed: (result, before) => results.push([before.kind, result]),
    },
    {
      ...{ kube, clock, logger: createRecordingLogger(), random: { next: () => 0.5 } },
      client: createKubeClient({ kube, clock }),
      registry: createWatchRegistry(createRecordingMeter()),
    },
  );
  const abort = new AbortController();
  const done = watch.run(abort.signal);
  const take = async () => {
    await clock.settle();
    while (kube.waiting === 0) await clock.advance(1_000);
    return kube.take();
  };
  const stop = async () => {
    abort.abort(new Error('over'));
    await done;
  };
  return { clock, watch, results, take, stop };
};

it('discovers a kind until it is served with a scale, then watches the objects of its name', async () => {
  const { clock, watch, results, take, stop } = start();
  (await take()).respond(404, '');
  await clock.settle();
  expect([watch.served(), watch.problem(), watch.interruptedMs()]).toEqual([notServed, notServed.problem, 0]);
  (await take()).respond(200, resourcesOf('wheels'));
  (await take()).respond(503, '');
  await clock.settle();
  expect([watch.served(), watch.interruptedMs()]).toEqual([unscaled, 0]);
  (await take()).respond(200, resourcesOf('wheels', 'wheels/scale'));
  const list = await take();
  expect([list.request.path, list.request.query]).toEqual([
    '/apis/x.io/v1/wheels',
    { fieldSelector: 'metadata.name=front', limit: '500' },
  ]);
  expect(results).toEqual([
    ['unknown', notServed],
    ['not-served', unscaled],
    ['not-served', served],
  ]);
  await stop();
});

it('keeps a kind as served when the API server does not serve it for a while', async () => {
  const { clock, watch, results, take, stop } = start();
  (await take()).respond(200, resourcesOf('wheels', 'wheels/scale'));
  (await take()).respond(200, { metadata: { resourceVersion: '5' }, items: [{ metadata: { name: 'front' } }] });
  const stream = (await take()).stream();
  await clock.advance(60_000);
  stream.end();
  (await take()).respond(404, '');
  (await take()).respond(404, '');
  await clock.settle();
  expect([watch.served(), watch.problem()]).toEqual([served, notServed.problem]);
  (await take()).respond(200, resourcesOf('wheels', 'wheels/scale'));
  expect((await take()).request.path).toBe('/apis/x.io/v1/wheels');
  expect([results, [...watch.store.entries()]]).toEqual([[['unknown', served]], [['front', 'front']]]);
  await stop();
});
