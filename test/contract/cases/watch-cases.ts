import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { expectObject, listVersion, made, versionOf } from './expectations.ts';
import { configMap, machine } from './fixtures.ts';
import type { Json } from './json.ts';
import { topic } from './target.ts';
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
