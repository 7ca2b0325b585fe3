import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { type Api, createApi } from './api.ts';
import { expectFailure, expectObject, made, namesOf } from './expectations.ts';
import { configMap, endpointSlice, lease, machine, workload } from './fixtures.ts';
import type { Json } from './json.ts';
import { topic } from './target.ts';

const { ConfigMap, Deployment, EndpointSlice, Lease, Machine, Secret } = simKinds;

/** Creates config maps one after the other; answers with the last one. */
const fill = async (api: Api, names: readonly string[]): Promise<Json> => {
  const objects: Json[] = [];
  for (const name of names) objects.push(await made(api, api.at(ConfigMap), configMap(name)));
  return objects.at(-1)!;
};

export const listCases = topic('list', {
  'an empty list has items and a resourceVersion': async (target) => {
    const api = createApi(target);
    const list = expectObject(await api.get(api.at(Deployment)));
    expect(list).toMatchObject({ kind: 'DeploymentList', apiVersion: 'apps/v1', items: [] });
    expect(list.metadata.resourceVersion).toMatch(/^[1-9]\d*$/);
  },

  'items are sorted by name': async (target) => {
    const api = createApi(target);
    await fill(api, ['b', 'a-b', 'a', 'a.b', 'c']);
    expect(namesOf(await api.get(api.at(ConfigMap)))).toEqual(['a', 'a-b', 'a.b', 'b', 'c']);
  },

  'items of built-in kinds come without kind and apiVersion, those of custom kinds with them': async (target) => {
    const api = createApi(target);
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

  'an item is the object': async (target) => {
    const api = createApi(target);
    const one = await made(api, api.at(Machine), machine('a', { spec: { x: [1, null, 'ü'] } }));
    expect(expectObject(await api.get(api.at(Machine))).items).toEqual([one]);
  },

  'the resourceVersion of a list is at least that of its items, and grows': async (target) => {
    const api = createApi(target);
    const { metadata } = await fill(api, ['a']);
    const before = Number(expectObject(await api.get(api.at(ConfigMap))).metadata.resourceVersion);
    expect(before).toBeGreaterThanOrEqual(Number(metadata.resourceVersion));
    await fill(api, ['b']);
    expect(Number(expectObject(await api.get(api.at(ConfigMap))).metadata.resourceVersion)).toBeGreaterThan(before);
  },

  'all namespaces of a namespaced kind are listed together': async (target) => {
    const api = createApi(target);
    await made(api, api.at(Lease), lease('a'));
    const list = expectObject(await api.get('/apis/coordination.k8s.io/v1/leases'));
    const mine = list.items.filter((item) => item.metadata.namespace === api.namespace);
    expect(mine.map((item) => item.metadata.name)).toEqual(['a']);
  },

  'a namespace that is not there has an empty list': async (target) => {
    const api = createApi(target);
    expect(namesOf(await api.get('/api/v1/namespaces/no-such-namespace/pods'))).toEqual([]);
  },

  'custom lists have an empty continue, built-in ones none': async (target) => {
    const api = createApi(target);
    expect(expectObject(await api.get(api.at(Machine))).metadata.continue).toBe('');
    expect(expectObject(await api.get(api.at(ConfigMap))).metadata).not.toHaveProperty('continue');
  },

  'a limit that is no number is BadRequest': async (target) => {
    const api = createApi(target);
    expectFailure(await api.get(api.at(ConfigMap), { limit: 'many' }), { code: 400, reason: 'BadRequest' });
  },

  'GET of an object that is not there is NotFound': async (target) => {
    const api = createApi(target);
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

const labelled = { a: { app: 'x', tier: 'one' }, b: { app: 'x', tier: 'two' }, c: { app: 'y' }, d: {} };

/** Selector, then the names it selects out of `labelled`. */
const selections: readonly (readonly [string, string])[] = [
  ['app=x', 'a b'],
  ['app==x', 'a b'],
  ['app = x', 'a b'],
  ['app!=x', 'c d'],
  ['app', 'a b c'],
  ['!app', 'd'],
  ['! app', 'd'],
  ['app in (x)', 'a b'],
  ['app in (x, y)', 'a b c'],
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
  ['app in ()', ''],
  ['none', ''],
  ['example.io/none!=x', 'a b c d'],
  ['', 'a b c d'],
];

export const selectorCases = topic('selector', {
  'labels: equality, sets, presence and absence': async (target) => {
    const api = createApi(target);
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

  'labels: what cannot be parsed is BadRequest': async (target) => {
    const api = createApi(target);
    for (const labelSelector of [
      'a in b',
      'a in (b',
      'a=b,',
      '=b',
      'a b',
      'a in',
      'a=b c',
      '-x=1',
      'a=not valid!',
      'a===b',
    ]) {
      const reply = await api.get(api.at(ConfigMap), { labelSelector });
      expect([labelSelector, reply.status, reply.json.reason]).toEqual([labelSelector, 400, 'BadRequest']);
    }
    const reply = await api.get(api.at(ConfigMap), { labelSelector: 'a in b' });
    expect(reply.json.message).toBe("unable to parse requirement: found 'b' expected: '('");
  },

  'fields: the name works for every kind': async (target) => {
    const api = createApi(target);
    for (const name of ['a', 'b']) {
      await made(api, api.at(ConfigMap), configMap(name));
      await made(api, api.at(Deployment), workload(name));
      await made(api, api.at(Machine), machine(name));
      await made(api, api.at(Secret), { metadata: { name } });
      await made(api, api.at(EndpointSlice), endpointSlice(name));
    }
    for (const kind of [ConfigMap, Deployment, Machine, Secret, EndpointSlice]) {
      const select = async (fieldSelector: string): Promise<string> =>
        namesOf(await api.get(api.at(kind), { fieldSelector })).join(' ');
      expect(await select('metadata.name=a')).toBe('a');
      expect(await select('metadata.name==a')).toBe('a');
    }
  },

  'fields: a name over all namespaces': async (target) => {
    const api = createApi(target);
    const name = `only-${api.namespace}`;
    await made(api, api.at(Deployment), workload(name));
    const found = await api.get('/apis/apps/v1/deployments', { fieldSelector: `metadata.name=${name}` });
    expect(namesOf(found)).toEqual([name]);
  },

  'fields: the name of a cluster-scoped object': async (target) => {
    const api = createApi(target);
    const found = await api.get('/api/v1/namespaces', { fieldSelector: `metadata.name=${api.namespace}` });
    expect(namesOf(found)).toEqual([api.namespace]);
  },

  'labels and fields together': async (target) => {
    const api = createApi(target);
    for (const [name, labels] of Object.entries(labelled)) {
      await made(api, api.at(ConfigMap), configMap(name, {}, { labels }));
    }
    const query = { labelSelector: 'app=x', fieldSelector: 'metadata.name=b' };
    expect(namesOf(await api.get(api.at(ConfigMap), query))).toEqual(['b']);
  },
});

export const pagingCases = topic('paging', {
  'pages follow each other and count what remains': async (target) => {
    const api = createApi(target);
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

  'all pages show the state of the first one': async (target) => {
    const api = createApi(target);
    await fill(api, ['a', 'b', 'd', 'e']);
    const first = await api.get(api.at(ConfigMap), { limit: '2' });
    await fill(api, ['c']);
    await api.remove(api.at(ConfigMap, 'd'));
    await api.patch(api.at(ConfigMap, 'e'), { data: { x: 'new' } });
    const second = await api.get(api.at(ConfigMap), { limit: '2', continue: first.json.metadata.continue! });
    expect(namesOf(second)).toEqual(['d', 'e']);
    expect(second.json.items[1]!.data).toBeUndefined();
    expect(second.json.metadata.resourceVersion).toBe(first.json.metadata.resourceVersion);
  },

  'with a selector nothing is counted': async (target) => {
    const api = createApi(target);
    for (const name of ['a', 'b', 'c']) await made(api, api.at(ConfigMap), configMap(name, {}, { labels: { x: 'y' } }));
    await fill(api, ['aa', 'bb']);
    const query = { labelSelector: 'x=y', limit: '2' };
    const first = await api.get(api.at(ConfigMap), query);
    expect(namesOf(first)).toEqual(['a', 'b']);
    expect(first.json.metadata).not.toHaveProperty('remainingItemCount');
    const second = await api.get(api.at(ConfigMap), { ...query, continue: first.json.metadata.continue! });
    expect(namesOf(second)).toEqual(['c']);
  },

  'a page that holds everything has no continue': async (target) => {
    const api = createApi(target);
    await fill(api, ['a', 'b']);
    const reply = await api.get(api.at(ConfigMap), { limit: '2' });
    expect(namesOf(reply)).toEqual(['a', 'b']);
    expect(reply.json.metadata).not.toHaveProperty('continue');
  },

  'custom kinds have pages as well': async (target) => {
    const api = createApi(target);
    for (const name of ['a', 'b', 'c']) await made(api, api.at(Machine), machine(name));
    const first = await api.get(api.at(Machine), { limit: '2' });
    expect([namesOf(first), first.json.metadata.remainingItemCount]).toEqual([['a', 'b'], 1]);
    const second = await api.get(api.at(Machine), { limit: '2', continue: first.json.metadata.continue! });
    expect([namesOf(second), second.json.metadata.continue]).toEqual([['c'], '']);
  },

  'pages go through all namespaces': async (target) => {
    const api = createApi(target);
    for (const name of ['a', 'b', 'c']) {
      await made(api, api.at(EndpointSlice), endpointSlice(name, { case: api.namespace }));
    }
    const path = '/apis/discovery.k8s.io/v1/endpointslices';
    const query = { labelSelector: `case=${api.namespace}`, limit: '2' };
    const first = await api.get(path, query);
    expect(namesOf(first)).toEqual(['a', 'b']);
    const second = await api.get(path, { ...query, continue: first.json.metadata.continue! });
    expect(namesOf(second)).toEqual(['c']);
  },

  'a broken token is BadRequest': async (target) => {
    const api = createApi(target);
    await fill(api, ['a', 'b', 'c']);
    expectFailure(await api.get(api.at(ConfigMap), { continue: 'abc', limit: '2' }), {
      code: 400,
      reason: 'BadRequest',
    });
  },
});
