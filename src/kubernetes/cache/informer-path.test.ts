import { expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import { createRecordingMeter } from '../../../test/doubles/recording-meter.ts';
import { createScriptedKube } from '../../../test/doubles/scripted-kube.ts';
import { decodeMeta, decodeObject } from '../api/decode.ts';
import { createInformer } from './informer.ts';
import { createWatchRegistry } from './watch-registry.ts';

const [older, newer] = ['/apis/x.io/v1beta1/clusters', '/apis/x.io/v1beta2/clusters'];

const start = ({ isServed }: { readonly isServed: boolean }) => {
  const [clock, kube, logger] = [createVirtualClock(), createScriptedKube(), createRecordingLogger()];
  const discovery = { path: isServed ? older : undefined };
  const informer = createInformer<string>({
    ...{ kube, clock, logger, random: { next: () => 0.5 }, registry: createWatchRegistry(createRecordingMeter()) },
    name: 'clusters.x.io',
    path: async () => {
      if (discovery.path === undefined) throw new Error('x.io is not served');
      return Promise.resolve(discovery.path);
    },
    project: (json, path) => decodeMeta(decodeObject(json, path), path).name,
  });
  const announced: string[] = [];
  informer.subscribe(({ type, key }) => announced.push(`${type} ${key}`));
  const abort = new AbortController();
  const done = informer.run(abort.signal);
  const take = async () => {
    await clock.settle();
    return kube.take();
  };
  return { clock, kube, logger, discovery, informer, told: announced, abort, done, take };
};

const item = (name: string, resourceVersion: number) => ({
  metadata: { namespace: 'fleet', name, resourceVersion: String(resourceVersion) },
});
const listOf = (resourceVersion: number, ...items: readonly object[]) => ({
  ...{ kind: 'ClusterList', apiVersion: 'x.io/v1beta1', items },
  metadata: { resourceVersion: String(resourceVersion) },
});
const notFound = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, reason: 'NotFound' };

it('looks for the path until it is found, says why it is not, and warns once', async () => {
  const { clock, kube, logger, discovery, informer, abort, done, take } = start({ isServed: false });
  await clock.advance(100_000);
  expect([kube.requests, informer.synced, informer.state().problem, informer.interruptedMs()]).toEqual([
    [],
    false,
    'x.io is not served',
    0,
  ]);
  expect(logger.at('warn')).toEqual(['list and watch interrupted, trying again']);
  discovery.path = newer;
  await clock.advance(30_000);
  const list = await take();
  expect(list.request.path).toBe(newer);
  list.respond(200, listOf(5, item('one', 3)));
  await clock.settle();
  expect([informer.synced, [...informer.entries()]]).toEqual([true, [['fleet/one', 'one']]]);
  abort.abort(new Error('over'));
  await done;
});

it('stops at once while the path is not found yet', async () => {
  const { clock, abort, done, informer } = start({ isServed: false });
  await clock.advance(2_000);
  const waiting = informer.whenSynced(abort.signal);
  abort.abort(new Error('over'));
  await done;
  await expect(waiting).rejects.toThrow('over');
});

it('discovers again when its path is no longer served; unchanged objects stay and are not announced', async () => {
  const { clock, kube, discovery, informer, told, abort, done, take } = start({ isServed: true });
  (await take()).respond(200, listOf(5, item('one', 3), item('two', 4)));
  const stream = (await take()).stream();
  await clock.settle();
  expect(told.splice(0)).toEqual(['set fleet/one', 'set fleet/two']);
  discovery.path = newer;
  stream.end();
  const untilAsked = async () => {
    while (kube.waiting === 0) await clock.advance(1_000);
    return take();
  };
  let list = await untilAsked();
  for (; list.request.path === older; list = await untilAsked()) {
    list.respond(404, notFound);
    await clock.settle();
    expect([[...informer.entries()].length, told]).toEqual([2, []]);
  }
  expect(list.request.path).toBe(newer);
  list.respond(200, listOf(9, item('two', 4), item('three', 8)));
  const watch = await take();
  expect([watch.request.path, watch.request.query?.resourceVersion]).toEqual([newer, '9']);
  expect(told).toEqual(['deleted fleet/one', 'set fleet/three']);
  expect(informer.state().problem).toBeUndefined();
  abort.abort(new Error('over'));
  await done;
});
