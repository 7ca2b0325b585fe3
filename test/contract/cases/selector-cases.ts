import { expect } from 'vitest';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import { made, namesOf } from './expectations.ts';
import { configMap, endpointSlice, machine, workload } from './fixtures.ts';
import { topic } from './target.ts';

const { ConfigMap, Deployment, EndpointSlice, Machine, Secret } = simKinds;

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
