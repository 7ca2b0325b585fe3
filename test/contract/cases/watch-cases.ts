import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { type Api, createApi } from './api.ts';
import { expectFailure, expectObject, made } from './expectations.ts';
import { configMap, endpointSlice, machine, node } from './fixtures.ts';
import type { Json } from './json.ts';
import { topic } from './target.ts';
import { story } from './watcher.ts';

const { ConfigMap, EndpointSlice, Machine, Node } = simKinds;

const versionOf = (object: Json): string => object.metadata.resourceVersion;

const now = async (api: Api, path: string): Promise<string> => versionOf(expectObject(await api.get(path)));

export const watchCases = topic('watch', {
  'tells creation, change and deletion, in order, with growing versions': async (target) => {
    const api = createApi(target);
    const watcher = await api.watch(api.at(ConfigMap), { resourceVersion: await now(api, api.at(ConfigMap)) });
    expect(watcher.status).toBe(200);
    const one = await made(api, api.at(ConfigMap), configMap('a'));
    const two = expectObject(await api.patch(api.at(ConfigMap, 'a'), { data: { x: 'y' } }));
    await api.remove(api.at(ConfigMap, 'a'));
    const events = await watcher.take(3);
    expect(story(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
    expect(events[0]?.object).toEqual(one);
    expect(events[1]?.object).toEqual(two);
    expect(events[2]?.object.data).toEqual({ x: 'y' });
    const versions = events.map(({ object }) => Number(versionOf(object)));
    expect([...versions].sort((a, b) => a - b)).toEqual(versions);
    expect(new Set(versions).size).toBe(3);
    await watcher.close();
  },

  'objects in events name their type': async (target) => {
    const api = createApi(target);
    const builtIn = await api.watch(api.at(ConfigMap));
    const custom = await api.watch(api.at(Machine));
    await made(api, api.at(ConfigMap), configMap('a'));
    await made(api, api.at(Machine), machine('a'));
    // Every namespace of a real cluster gets a ConfigMap of its own; here nobody makes it.
    expect((await builtIn.next())?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    expect((await custom.next())?.object).toMatchObject({
      kind: 'Machine',
      apiVersion: 'machine.sapcloud.io/v1alpha1',
    });
    await builtIn.close();
    await custom.close();
  },

  'from a version: what came since, and nothing before': async (target) => {
    const api = createApi(target);
    await made(api, api.at(ConfigMap), configMap('before'));
    const one = await made(api, api.at(ConfigMap), configMap('a'));
    await made(api, api.at(ConfigMap), configMap('b'));
    await api.remove(api.at(ConfigMap, 'before'));
    const watcher = await api.watch(api.at(ConfigMap), { resourceVersion: versionOf(one) });
    expect(story(await watcher.take(2))).toEqual(['ADDED b', 'DELETED before']);
    await watcher.close();
  },

  'without a version, and from 0: first the present objects as ADDED': async (target) => {
    const api = createApi(target);
    await made(api, api.at(ConfigMap), configMap('b'));
    await made(api, api.at(ConfigMap), configMap('a'));
    await api.patch(api.at(ConfigMap, 'a'), { data: { x: 'y' } });
    await api.get(api.at(ConfigMap));
    for (const query of [{}, { resourceVersion: '0' }]) {
      const watcher = await api.watch(api.at(ConfigMap), query);
      expect([...story(await watcher.take(2))].sort()).toEqual(['ADDED a', 'ADDED b']);
      await api.patch(api.at(ConfigMap, 'b'), { data: { at: String(Object.keys(query).length) } });
      expect(story(await watcher.take(1))).toEqual(['MODIFIED b']);
      await watcher.close();
    }
  },

  'a write that changes nothing causes no event': async (target) => {
    const api = createApi(target);
    const one = await made(api, api.at(ConfigMap), configMap('a', { x: 'y' }));
    const watcher = await api.watch(api.at(ConfigMap), { resourceVersion: versionOf(one) });
    await api.patch(api.at(ConfigMap, 'a'), { data: { x: 'y' } });
    await made(api, api.at(ConfigMap), configMap('b'));
    expect(story(await watcher.take(1))).toEqual(['ADDED b']);
    await watcher.close();
  },

  'other namespaces are not told, unless all are watched': async (target) => {
    const api = createApi(target);
    const other = `${api.namespace}-other`;
    await made(api, '/api/v1/namespaces', { metadata: { name: other } });
    const mine = await api.watch(api.at(EndpointSlice));
    const all = await api.watch('/apis/discovery.k8s.io/v1/endpointslices', { labelSelector: `case=${api.namespace}` });
    const labels = { case: api.namespace };
    await made(api, api.at(EndpointSlice).replace(api.namespace, other), endpointSlice('theirs', labels));
    await made(api, api.at(EndpointSlice), endpointSlice('mine', labels));
    expect(story(await mine.take(1))).toEqual(['ADDED mine']);
    expect([...story(await all.take(2))].sort()).toEqual(['ADDED mine', 'ADDED theirs']);
    await mine.close();
    await all.close();
  },

  'cluster-scoped kinds are watched too': async (target) => {
    const api = createApi(target);
    const watcher = await api.watch(api.at(Node), { fieldSelector: `metadata.name=${api.namespace}` });
    await made(api, api.at(Node), node(api.namespace));
    await api.remove(api.at(Node, api.namespace));
    expect(story(await watcher.take(2))).toEqual([`ADDED ${api.namespace}`, `DELETED ${api.namespace}`]);
    await watcher.close();
  },

  'status and scale writes are MODIFIED': async (target) => {
    const api = createApi(target);
    const { Watermill } = simKinds;
    const body = {
      apiVersion: 'test.dependency-watchdog.gardener.cloud/v1',
      kind: 'Watermill',
      metadata: { name: 'a' },
    };
    const one = await made(api, api.at(Watermill), body);
    const watcher = await api.watch(api.at(Watermill), { resourceVersion: versionOf(one) });
    await api.patch(api.at(Watermill, 'a', 'status'), { status: { turning: 3 } });
    await api.patch(api.at(Watermill, 'a', 'scale'), { spec: { replicas: 2 } });
    const events = await watcher.take(2);
    expect(story(events)).toEqual(['MODIFIED a', 'MODIFIED a']);
    expect([events[0]?.object.status, events[1]?.object.spec]).toEqual([{ turning: 3 }, { wheel: { count: 2 } }]);
    await watcher.close();
  },
});

export const watchSelectorCases = topic('watch with selector', {
  'objects that start or cease to match are ADDED and DELETED': async (target) => {
    const api = createApi(target);
    const path = api.at(ConfigMap, 'a');
    await made(api, api.at(ConfigMap), configMap('a'));
    const watcher = await api.watch(api.at(ConfigMap), { labelSelector: 'app=x' });
    const label = async (app: string | null, data: string): Promise<Json> =>
      expectObject(await api.patch(path, { metadata: { labels: { app } }, data: { data } }));
    await label('x', '1');
    const matching = await label('x', '2');
    const left = await label('y', '3');
    await label('y', '4');
    await label('x', '5');
    await api.remove(path);
    const events = await watcher.take(5);
    expect(story(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a']);
    // What leaves is shown as it was when it still matched, under the version of its leaving.
    expect(events[2]?.object.data).toEqual(matching.data);
    expect(events[2]?.object.metadata.labels).toEqual({ app: 'x' });
    expect(versionOf(events[2]!.object)).toBe(versionOf(left));
    await watcher.close();
  },

  'objects that never match are not told, nor their deletion': async (target) => {
    const api = createApi(target);
    const watcher = await api.watch(api.at(ConfigMap), { labelSelector: 'app=x' });
    await made(api, api.at(ConfigMap), configMap('a'));
    await api.remove(api.at(ConfigMap, 'a'));
    await made(api, api.at(ConfigMap), configMap('b', {}, { labels: { app: 'x' } }));
    expect(story(await watcher.take(1))).toEqual(['ADDED b']);
    await watcher.close();
  },

  'initial events are selected as well': async (target) => {
    const api = createApi(target);
    await made(api, api.at(ConfigMap), configMap('a'));
    await made(api, api.at(ConfigMap), configMap('b', {}, { labels: { app: 'x' } }));
    const watcher = await api.watch(api.at(ConfigMap), { labelSelector: 'app' });
    expect(story(await watcher.take(1))).toEqual(['ADDED b']);
    await watcher.close();
  },

  'a name over all namespaces': async (target) => {
    const api = createApi(target);
    const name = `only-${api.namespace}`;
    const watcher = await api.watch('/api/v1/configmaps', { fieldSelector: `metadata.name=${name}` });
    await made(api, api.at(ConfigMap), configMap('a'));
    await made(api, api.at(ConfigMap), configMap(name));
    await api.remove(api.at(ConfigMap, name));
    expect(story(await watcher.take(2))).toEqual([`ADDED ${name}`, `DELETED ${name}`]);
    await watcher.close();
  },

  'broken selectors are BadRequest, not a stream': async (target) => {
    const api = createApi(target);
    expectFailure(await api.get(api.at(ConfigMap), { watch: '1', labelSelector: 'a in b' }), {
      code: 400,
      reason: 'BadRequest',
    });
    expectFailure(await api.get(api.at(ConfigMap), { watch: '1', fieldSelector: 'x=y' }), {
      code: 400,
      reason: 'BadRequest',
    });
  },
});

export const watchLifeCases = topic('watch life', {
  'ends after timeoutSeconds': async (target) => {
    const api = createApi(target);
    const watcher = await api.watch(api.at(ConfigMap), { timeoutSeconds: '1' });
    expect(await watcher.rest()).toEqual([]);
  },

  'sends a bookmark two seconds before its end, with the type and a version to resume from': async (target) => {
    const api = createApi(target);
    const one = await made(api, api.at(ConfigMap), configMap('a'));
    const query = { resourceVersion: versionOf(one), allowWatchBookmarks: 'true', timeoutSeconds: '4' };
    const watcher = await api.watch(api.at(ConfigMap), query);
    // The real server sends no bookmark that tells of no progress since the watch began.
    const two = await made(api, api.at(ConfigMap), configMap('b'));
    const [first, ...events] = await watcher.rest();
    expect(first?.object.metadata.name).toBe('b');
    // It counts in whole seconds and may send it twice.
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['BOOKMARK']));
    const bookmark = events.at(-1)!.object;
    expect(bookmark).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    expect(Number(versionOf(bookmark))).toBeGreaterThanOrEqual(Number(versionOf(two)));
    expect(bookmark.metadata.name).toBeUndefined();
    const resumed = await api.watch(api.at(ConfigMap), { resourceVersion: versionOf(bookmark) });
    await made(api, api.at(ConfigMap), configMap('c'));
    expect(story(await resumed.take(1))).toEqual(['ADDED c']);
    await resumed.close();
  },

  'sends no bookmarks unasked': async (target) => {
    const api = createApi(target);
    const watcher = await api.watch(api.at(ConfigMap), { timeoutSeconds: '4' });
    expect(await watcher.rest()).toEqual([]);
  },

  'sends a bookmark about every minute': async (target) => {
    const api = createApi(target);
    const resourceVersion = await now(api, api.at(Machine));
    const watcher = await api.watch(api.at(Machine), {
      resourceVersion,
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
    });
    const event = await watcher.next();
    expect([event?.type, event?.object.kind]).toEqual(['BOOKMARK', 'Machine']);
    await watcher.close();
  },

  'a version that is not there yet only lets later ones through': async (target) => {
    const api = createApi(target);
    const query = { resourceVersion: '900000000', timeoutSeconds: '2' };
    const watcher = await api.watch(api.at(ConfigMap), query);
    await made(api, api.at(ConfigMap), configMap('a'));
    expect(story(await watcher.rest())).toEqual([]);
  },

  'a version of long ago is an ERROR event of 410, and the end': async (target) => {
    const api = createApi(target);
    // Of a custom kind: a real server's caches of built-in ones may go back to its first version.
    const watcher = await api.watch(api.at(Machine), { resourceVersion: '1' });
    expect(watcher.status).toBe(200);
    const [event, ...more] = await watcher.rest();
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 },
    });
    expect(event?.object.message).toMatch(/^too old resource version: 1 \(\d+\)$/);
  },

  'a version that is no number is refused with 500': async (target) => {
    const api = createApi(target);
    const reply = await api.get(api.at(ConfigMap), { watch: '1', resourceVersion: 'abc' });
    expectFailure(reply, { code: 500, message: /^resourceVersion: Invalid value: "abc"/ });
  },

  'bookmarks asked for and no version: a first one ends the initial events': async (target) => {
    const api = createApi(target);
    await made(api, api.at(ConfigMap), configMap('a'));
    await api.get(api.at(ConfigMap));
    for (const query of [{}, { resourceVersion: '0' }]) {
      const watcher = await api.watch(api.at(ConfigMap), { ...query, allowWatchBookmarks: 'true' });
      const events = await watcher.take(2);
      expect(story(events)).toEqual(['ADDED a', 'BOOKMARK']);
      expect(events[1]?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
      await watcher.close();
    }
  },

  'many watchers hear the same': async (target) => {
    const api = createApi(target);
    const watchers = await Promise.all(Array.from({ length: 20 }, () => api.watch(api.at(Machine))));
    for (const name of ['a', 'b', 'c']) await made(api, api.at(Machine), machine(name));
    const stories = await Promise.all(watchers.map(async (watcher) => story(await watcher.take(3))));
    expect(new Set(stories.map((told) => told.join()))).toEqual(new Set(['ADDED a,ADDED b,ADDED c']));
    await Promise.all(watchers.map((watcher) => watcher.close()));
  },
});
