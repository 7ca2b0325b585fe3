import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { expectFailure, expectObject, listVersion, made, topic, versionOf } from './expectations.ts';
import { configMap, machine } from './fixtures.ts';
import type { Json } from './json.ts';
import { story } from './watcher.ts';

const { ConfigMap, Machine } = simKinds;

export const watchCases = topic('watch', {
  'sends creation, change and deletion, in order, with growing versions': async (api) => {
    const watcher = await api.watch(api.at(ConfigMap), { resourceVersion: await listVersion(api, api.at(ConfigMap)) });
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

  'objects in events name their type': async (api) => {
    const builtIn = await api.watch(api.at(ConfigMap));
    const custom = await api.watch(api.at(Machine));
    await made(api, api.at(ConfigMap), configMap('a'));
    await made(api, api.at(Machine), machine('a'));
    // In a real cluster, KCM creates a ConfigMap (kube-root-ca.crt) in every namespace. No KCM runs here.
    expect((await builtIn.next())?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    expect((await custom.next())?.object).toMatchObject({
      kind: 'Machine',
      apiVersion: 'machine.sapcloud.io/v1alpha1',
    });
    await builtIn.close();
    await custom.close();
  },

  'from a version: later events, and no earlier ones': async (api) => {
    await made(api, api.at(ConfigMap), configMap('before'));
    const one = await made(api, api.at(ConfigMap), configMap('a'));
    await made(api, api.at(ConfigMap), configMap('b'));
    await api.remove(api.at(ConfigMap, 'before'));
    const watcher = await api.watch(api.at(ConfigMap), { resourceVersion: versionOf(one) });
    expect(story(await watcher.take(2))).toEqual(['ADDED b', 'DELETED before']);
    await watcher.close();
  },

  'a write that changes nothing causes no event': async (api) => {
    const one = await made(api, api.at(ConfigMap), configMap('a', { x: 'y' }));
    const watcher = await api.watch(api.at(ConfigMap), { resourceVersion: versionOf(one) });
    await api.patch(api.at(ConfigMap, 'a'), { data: { x: 'y' } });
    await made(api, api.at(ConfigMap), configMap('b'));
    expect(story(await watcher.take(1))).toEqual(['ADDED b']);
    await watcher.close();
  },

  'status and scale writes are MODIFIED': async (api) => {
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
  'objects that start or cease to match are ADDED and DELETED': async (api) => {
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
    // The event holds the object as it last matched, with the resourceVersion of the change that ended the match.
    expect(events[2]?.object.data).toEqual(matching.data);
    expect(events[2]?.object.metadata.labels).toEqual({ app: 'x' });
    expect(versionOf(events[2]!.object)).toBe(versionOf(left));
    await watcher.close();
  },

  'objects that never match are not sent, nor their deletion': async (api) => {
    const watcher = await api.watch(api.at(ConfigMap), { labelSelector: 'app=x' });
    await made(api, api.at(ConfigMap), configMap('a'));
    await api.remove(api.at(ConfigMap, 'a'));
    await made(api, api.at(ConfigMap), configMap('b', {}, { labels: { app: 'x' } }));
    expect(story(await watcher.take(1))).toEqual(['ADDED b']);
    await watcher.close();
  },

  'a name over all namespaces': async (api) => {
    const name = `only-${api.namespace}`;
    const watcher = await api.watch('/api/v1/configmaps', { fieldSelector: `metadata.name=${name}` });
    await made(api, api.at(ConfigMap), configMap('a'));
    await made(api, api.at(ConfigMap), configMap(name));
    await api.remove(api.at(ConfigMap, name));
    expect(story(await watcher.take(2))).toEqual([`ADDED ${name}`, `DELETED ${name}`]);
    await watcher.close();
  },
});

export const watchLifeCases = topic('watch life', {
  'ends after timeoutSeconds': async (api) => {
    const watcher = await api.watch(api.at(ConfigMap), { timeoutSeconds: '1' });
    expect(await watcher.rest()).toEqual([]);
  },

  'sends a bookmark two seconds before its end, with the type and a version to resume from': async (api) => {
    const one = await made(api, api.at(ConfigMap), configMap('a'));
    const query = { resourceVersion: versionOf(one), allowWatchBookmarks: 'true', timeoutSeconds: '4' };
    const watcher = await api.watch(api.at(ConfigMap), query);
    // A real API server sends no bookmark if there was no progress since the start of the watch.
    const two = await made(api, api.at(ConfigMap), configMap('b'));
    const [first, ...events] = await watcher.rest();
    expect(first?.object.metadata.name).toBe('b');
    // A real API server counts whole seconds and may send the bookmark twice.
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

  'sends a bookmark about every minute': async (api) => {
    const resourceVersion = await listVersion(api, api.at(Machine));
    const watcher = await api.watch(api.at(Machine), {
      resourceVersion,
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
    });
    const event = await watcher.next();
    expect([event?.type, event?.object.kind]).toEqual(['BOOKMARK', 'Machine']);
    await watcher.close();
  },

  'from a version in the future: no earlier events, no bookmarks; a list is refused': async (api) => {
    const resourceVersion = '900000000';
    const query = { resourceVersion, allowWatchBookmarks: 'true', timeoutSeconds: '4' };
    const watcher = await api.watch(api.at(ConfigMap), query);
    await made(api, api.at(ConfigMap), configMap('a'));
    expect([watcher.status, story(await watcher.rest())]).toEqual([200, []]);
    const list = { limit: '1', resourceVersion, resourceVersionMatch: 'NotOlderThan' };
    const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
    const failure = { code: 504, reason: 'Timeout', details: { causes, retryAfterSeconds: 1 } };
    expectFailure(await api.get(api.at(ConfigMap), list), failure);
  },

  'an expired version is an ERROR event of 410, and the end': async (api) => {
    // A custom kind, because the caches of a real API server for built-in kinds may reach back to its first version.
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
});
