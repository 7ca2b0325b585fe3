import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { listVersion, made, versionOf } from './expectations.ts';
import { configMap } from './fixtures.ts';
import { topic } from './target.ts';
import { story } from './watcher.ts';

const { ConfigMap, Machine } = simKinds;

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

  'from a version in the future: no earlier events': async (api) => {
    const query = { resourceVersion: '900000000', timeoutSeconds: '2' };
    const watcher = await api.watch(api.at(ConfigMap), query);
    await made(api, api.at(ConfigMap), configMap('a'));
    expect(story(await watcher.rest())).toEqual([]);
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
