import { expect } from 'vitest';
import { simKinds } from '../../sim/index.ts';
import { createApi } from './api.ts';
import { expectFailure, expectObject, made } from './expectations.ts';
import { configMap, etcd, lease, machine, workload } from './fixtures.ts';
import { asTable, cellsOf, getTable, headerOf, recent } from './tables.ts';
import { topic } from './target.ts';

const { ConfigMap, Deployment, Etcd, Lease, Machine } = simKinds;

const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };
const noMedia = /^only the following media types are accepted: application\/json, application\/yaml, /;

export const tableCases = topic('table', {
  'a list: its version, and a row for each object': async (target) => {
    const api = createApi(target);
    for (const kind of [ConfigMap, Machine]) {
      const empty = await getTable(api, api.at(kind));
      expect(empty).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1', rows: [] });
      expect(Object.keys(empty.metadata)).toEqual(['resourceVersion']);
    }
    await made(api, api.at(ConfigMap), configMap('b'));
    await made(api, api.at(ConfigMap), configMap('a'));
    const table = await getTable(api, api.at(ConfigMap));
    expect(table.rows.map(({ cells }) => cells)).toEqual([
      ['a', 0, recent],
      ['b', 0, recent],
    ]);
    const latest = Number(table.rows[0]!.object?.metadata.resourceVersion);
    expect(Number(table.metadata.resourceVersion)).toBeGreaterThanOrEqual(latest);
  },

  'a page: how to go on, and how many are left': async (target) => {
    const api = createApi(target);
    for (const name of ['a', 'b', 'c']) await made(api, api.at(ConfigMap), configMap(name));
    const first = await getTable(api, api.at(ConfigMap), { limit: '2' });
    expect(first.rows.map(({ cells }) => cells[0])).toEqual(['a', 'b']);
    expect(first.metadata).toMatchObject({ remainingItemCount: 1 });
    const next = first.metadata.continue ?? '';
    const second = await getTable(api, api.at(ConfigMap), { limit: '2', continue: next });
    expect(second.rows.map(({ cells }) => cells[0])).toEqual(['c']);
    expect(second.metadata).not.toHaveProperty('continue');
  },

  'one object, and one that is not there': async (target) => {
    const api = createApi(target);
    const { metadata } = await made(api, api.at(Lease), lease('a'));
    const table = await getTable(api, api.at(Lease, 'a'));
    expect(table.metadata).toEqual({ resourceVersion: metadata.resourceVersion });
    expect(cellsOf(table)).toEqual(['a', '', recent]);
    const missing = await api.send('GET', api.at(Lease, 'b'), { accept: asTable });
    expectFailure(missing, { code: 404, reason: 'NotFound' });
  },

  'rows come with the metadata, the object or nothing': async (target) => {
    const api = createApi(target);
    const object = await made(api, api.at(Machine), machine('a', { spec: { x: 1 } }));
    const included = async (query: Readonly<Record<string, string>>) =>
      (await getTable(api, api.at(Machine), query)).rows.map((row) => row.object);
    const metadata = { ...partial, metadata: object.metadata };
    expect(await included({})).toEqual([metadata]);
    expect(await included({ includeObject: 'Metadata' })).toEqual([metadata]);
    expect(await included({ includeObject: 'Object' })).toEqual([object]);
    expect(await included({ includeObject: 'None' })).toEqual([null]);
    await made(api, api.at(ConfigMap), configMap('a', { x: 'y' }));
    const { rows } = await getTable(api, api.at(ConfigMap, 'a'), { includeObject: 'Object' });
    expect(rows[0]!.object).toEqual(expectObject(await api.get(api.at(ConfigMap, 'a'))));
  },

  'what else should come with rows is a BadRequest': async (target) => {
    const api = createApi(target);
    const problem = `Invalid value: "Nope": must be 'Metadata', 'Object', 'None', or empty`;
    const message = `Unable to convert to Table as requested: includeObject: ${problem}`;
    for (const query of [{}, { watch: 'true' }]) {
      const init = { accept: asTable, query: { includeObject: 'Nope', ...query } };
      const reply = await api.send('GET', api.at(ConfigMap), init);
      expectFailure(reply, { code: 400, reason: 'BadRequest', message });
    }
    expectObject(await api.get(api.at(ConfigMap), { includeObject: 'Nope' }));
  },

  'writes answer with Tables too, a delete that is done with a Status': async (target) => {
    const api = createApi(target);
    const accept = asTable;
    const made = await api.send('POST', api.at(ConfigMap), { accept, body: configMap('a', { x: 'y' }) });
    expect(cellsOf(expectObject(made, 201))).toEqual(['a', 1, recent]);
    const put = await api.send('PUT', api.at(ConfigMap, 'a'), { accept, body: configMap('a') });
    expect(cellsOf(expectObject(put))).toEqual(['a', 0, recent]);
    const gone = expectObject(await api.send('DELETE', api.at(ConfigMap, 'a'), { accept }));
    expect([gone.kind, gone.status]).toEqual(['Status', 'Success']);
  },

  'a scale is its counts': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Deployment), workload('a', { replicas: 3 }));
    const builtIn = await getTable(api, api.at(Deployment, 'a', 'scale'));
    expect(headerOf(builtIn)).toBe('Name, Desired: integer, Available: integer, Age');
    expect(cellsOf(builtIn)).toEqual(['a', 3, 0, recent]);
    expect(builtIn.rows[0]!.object).toMatchObject({ ...partial, metadata: { name: 'a' } });
    await made(api, api.at(Etcd), etcd('a', { spec: { replicas: 2 } }));
    const custom = await getTable(api, api.at(Etcd, 'a', 'scale'));
    expect(headerOf(custom)).toBe('Name (name), Desired: integer, Available: integer, Age: date');
    expect(cellsOf(custom)).toEqual(['a', 2, 0, recent]);
  },

  'what is no Table of meta.k8s.io/v1 in JSON is passed over': async (target) => {
    const api = createApi(target);
    const others = [
      'application/json;as=Table;v=v2;g=meta.k8s.io',
      'application/json;as=Table',
      'application/json;as=Nope;v=v1;g=meta.k8s.io',
      'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io',
    ];
    for (const accept of others) {
      for (const kind of [ConfigMap, Machine]) {
        const refused = await api.send('GET', api.at(kind), { accept });
        expectFailure(refused, { code: 406, reason: 'NotAcceptable', message: noMedia });
        const list = expectObject(await api.send('GET', api.at(kind), { accept: `${accept},application/json` }));
        expect([accept, list.kind]).toEqual([accept, `${kind.kind}List`]);
      }
    }
    const discovery = await api.send('GET', '/apis/apps/v1', { accept: `${asTable},application/json` });
    expect(expectObject(discovery).kind).toBe('APIResourceList');
  },
});

export const tableWatchCases = topic('watch a table', {
  'only the first event tells the columns': async (target) => {
    const api = createApi(target);
    const { metadata } = await made(api, api.at(ConfigMap), configMap('a'));
    const { resourceVersion } = metadata;
    const watcher = await api.watch(api.at(ConfigMap), { resourceVersion }, asTable);
    await made(api, api.at(ConfigMap), configMap('b'));
    await api.patch(api.at(ConfigMap, 'a'), 'merge', { data: { x: 'y' } });
    await api.remove(api.at(ConfigMap, 'b'));
    const events = await watcher.take(3);
    await watcher.close();
    expect(events.map(({ type, object }) => [type, ...cellsOf(object)])).toEqual([
      ['ADDED', 'b', 0, recent],
      ['MODIFIED', 'a', 1, recent],
      ['DELETED', 'b', 0, recent],
    ]);
    expect(headerOf(events[0]!.object)).toBe('Name (name), Data, Age');
    for (const { object } of events.slice(1)) expect([object.kind, object.columnDefinitions]).toEqual(['Table', null]);
    for (const { object } of events) {
      const [row] = object.rows;
      expect(object.metadata).toEqual({ resourceVersion: row!.object!.metadata.resourceVersion });
    }
  },

  'the present objects and their end': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Machine), machine('a'));
    const query = {
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
      includeObject: 'None',
    };
    const watcher = await api.watch(api.at(Machine), query, asTable);
    const [present, bookmark] = await watcher.take(2);
    await watcher.close();
    expect([present!.type, ...cellsOf(present!.object)]).toEqual(['ADDED', 'a', null, recent, null, null]);
    expect(present!.object.rows[0]!.object).toBeNull();
    expect([bookmark!.type, ...cellsOf(bookmark!.object)]).toEqual(['BOOKMARK', '', null, null, null, null]);
    const { metadata } = bookmark!.object.rows[0]!.object!;
    expect(metadata).toEqual({
      resourceVersion: bookmark!.object.metadata.resourceVersion,
      annotations: { 'k8s.io/initial-events-end': 'true' },
    });
  },

  'a version of long ago is an ERROR event as ever': async (target) => {
    const api = createApi(target);
    // Of a custom kind: a real server's caches of built-in ones may go back to its first version.
    const watcher = await api.watch(api.at(Machine), { resourceVersion: '1' }, asTable);
    const [event] = await watcher.rest();
    expect([event?.type, event?.object.kind, event?.object.reason]).toEqual(['ERROR', 'Status', 'Expired']);
  },
});
