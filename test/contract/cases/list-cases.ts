import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { Api } from './api.ts';
import { expectFailure, expectObject, made, namesOf, topic } from './expectations.ts';
import { configMap, endpointSlice, machine, workload } from './fixtures.ts';
import type { Json } from './json.ts';

const { ConfigMap, Deployment, EndpointSlice, Machine, Secret } = simKinds;

/** Creates ConfigMaps one after the other. Returns the last one. */
const fill = async (api: Api, names: readonly string[]): Promise<Json> => {
  const objects: Json[] = [];
  for (const name of names) objects.push(await made(api, api.at(ConfigMap), configMap(name)));
  return objects.at(-1)!;
};

export const listCases = topic('list', {
  'an empty list has items and a resourceVersion': async (api) => {
    const list = expectObject(await api.get(api.at(Deployment)));
    expect(list).toMatchObject({ kind: 'DeploymentList', apiVersion: 'apps/v1', items: [] });
    expect(list.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
  },

  'items are sorted by name': async (api) => {
    await fill(api, ['b', 'a-b', 'a', 'a.b', 'c']);
    expect(namesOf(await api.get(api.at(ConfigMap)))).toEqual(['a', 'a-b', 'a.b', 'b', 'c']);
  },

  'items of built-in kinds come without kind and apiVersion, those of custom kinds with them': async (api) => {
    await fill(api, ['a']);
    const builtIn = expectObject(await api.get(api.at(ConfigMap))).items[0]!;
    expect([builtIn.kind, builtIn.apiVersion]).toEqual([undefined, undefined]);
    await made(api, api.at(Machine), machine('a'));
    const custom = expectObject(await api.get(api.at(Machine)));
    expect([custom.kind, custom.items[0]!.kind, custom.items[0]!.apiVersion]).toEqual([
      'MachineList',
      'Machine',
      'machine.sapcloud.io/v1alpha1',
    ]);
  },

  'an item is the object': async (api) => {
    const one = await made(api, api.at(Machine), machine('a', { spec: { x: [1, null, 'ü'] } }));
    expect(expectObject(await api.get(api.at(Machine))).items).toEqual([one]);
  },

  'the resourceVersion of a list is at least that of its items, and grows': async (api) => {
    const { metadata } = await fill(api, ['a']);
    const before = Number(expectObject(await api.get(api.at(ConfigMap))).metadata.resourceVersion);
    expect(before).toBeGreaterThanOrEqual(Number(metadata.resourceVersion));
    await fill(api, ['b']);
    expect(Number(expectObject(await api.get(api.at(ConfigMap))).metadata.resourceVersion)).toBeGreaterThan(before);
  },

  'a missing namespace has an empty list': async (api) => {
    expect(namesOf(await api.get('/api/v1/namespaces/no-such-namespace/pods'))).toEqual([]);
  },

  'custom lists have an empty continue, built-in ones none': async (api) => {
    expect(expectObject(await api.get(api.at(Machine))).metadata.continue).toBe('');
    expect(expectObject(await api.get(api.at(ConfigMap))).metadata).not.toHaveProperty('continue');
  },

  'GET of a missing object is NotFound': async (api) => {
    const details = { name: 'a', group: 'apps', kind: 'deployments' };
    expectFailure(await api.get(api.at(Deployment, 'a')), {
      code: 404,
      reason: 'NotFound',
      message: 'deployments.apps "a" not found',
      details,
    });
    const custom = { name: 'a', group: 'machine.sapcloud.io', kind: 'machines' };
    expectFailure(await api.get(api.at(Machine, 'a')), { code: 404, reason: 'NotFound', details: custom });
  },
});

export const pagingCases = topic('paging', {
  'pages follow each other and count what remains': async (api) => {
    await fill(api, ['a', 'b', 'c', 'd', 'e']);
    const seen: (readonly string[])[] = [];
    const remaining: unknown[] = [];
    let token = '';
    do {
      const reply = await api.get(api.at(ConfigMap), { limit: '2', ...(token === '' ? {} : { continue: token }) });
      seen.push(namesOf(reply));
      remaining.push(reply.json.metadata.remainingItemCount);
      token = reply.json.metadata.continue ?? '';
    } while (token !== '');
    expect(seen).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(remaining).toEqual([3, 1, undefined]);
  },

  'all pages show the state of the first one': async (api) => {
    const elsewhere = '/api/v1/namespaces/default/configmaps';
    await made(api, elsewhere, configMap('f'));
    await fill(api, ['a', 'b', 'd', 'e']);
    const first = await api.get(api.at(ConfigMap), { limit: '2' });
    await fill(api, ['c']);
    await api.remove(api.at(ConfigMap, 'd'));
    for (const x of ['new', 'newer']) await api.patch(api.at(ConfigMap, 'e'), { data: { x } });
    await api.patch(`${elsewhere}/f`, { data: { x: 'new' } });
    const second = await api.get(api.at(ConfigMap), { continue: first.json.metadata.continue! });
    expect(namesOf(second)).toEqual(['d', 'e']);
    expect(second.json.items[1]!.data).toBeUndefined();
    expect(second.json.metadata.resourceVersion).toBe(first.json.metadata.resourceVersion);
  },

  'a page with all items has no continue': async (api) => {
    await fill(api, ['a', 'b']);
    const reply = await api.get(api.at(ConfigMap), { limit: '2' });
    expect(namesOf(reply)).toEqual(['a', 'b']);
    expect(reply.json.metadata).not.toHaveProperty('continue');
  },
});

const labelled = { a: { app: 'x', tier: 'one' }, b: { app: 'x', tier: 'two' }, c: { app: 'y' }, d: {} };

/** A selector, then the names that it selects from `labelled`. */
const selections: readonly (readonly [string, string])[] = [
  ['app=x', 'a b'],
  ['app!=x', 'c d'],
  ['app', 'a b c'],
  ['!app', 'd'],
  ['app in (x)', 'a b'],
  ['app in (x,z),tier', 'a b'],
  ['app notin (x)', 'c d'],
  ['app notin (x,y)', 'd'],
  ['app=x,tier=two', 'b'],
  ['app=x,tier!=two', 'a'],
  ['app=x,!tier', ''],
  ['app=x,app=y', ''],
  ['tier in (one,two),app notin (y)', 'a b'],
  ['app=', ''],
  ['app!=', 'a b c d'],
  ['none', ''],
  ['example.io/none!=x', 'a b c d'],
  ['', 'a b c d'],
];

export const selectorCases = topic('selector', {
  'labels: equality, sets, presence and absence': async (api) => {
    for (const [name, labels] of Object.entries(labelled)) {
      await made(api, api.at(ConfigMap), configMap(name, {}, { labels }));
      await made(api, api.at(Machine), machine(name, { metadata: { name, labels } }));
    }
    for (const kind of [ConfigMap, Machine]) {
      for (const [labelSelector, names] of selections) {
        const found = namesOf(await api.get(api.at(kind), { labelSelector }));
        expect([labelSelector, found.join(' ')]).toEqual([labelSelector, names]);
      }
    }
  },

  'fields: the name works for every kind': async (api) => {
    for (const name of ['a', 'b']) {
      await made(api, api.at(ConfigMap), configMap(name));
      await made(api, api.at(Deployment), workload(name));
      await made(api, api.at(Machine), machine(name));
      await made(api, api.at(Secret), { metadata: { name } });
      await made(api, api.at(EndpointSlice), endpointSlice(name));
    }
    for (const kind of [ConfigMap, Deployment, Machine, Secret, EndpointSlice]) {
      expect(namesOf(await api.get(api.at(kind), { fieldSelector: 'metadata.name=a' }))).toEqual(['a']);
    }
  },
});
