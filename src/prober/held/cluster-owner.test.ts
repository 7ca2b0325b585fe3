import { expect, it } from 'vitest';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { DependentSource } from '../../kubernetes/cache/index.ts';
import { proberConfig } from '../config.ts';
import { findOwned, forCluster } from './cluster-owner.ts';
import type { ProberSettings } from '../settings.ts';

const refOf = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });
const settingsOf = (config: object): ProberSettings =>
  proberConfig.load(JSON.stringify(config), { unknownFields: 'error', purpose: 'ahead' }).settings!;

const template = refOf('{{ cluster }}-kcm');
const central = settingsOf({
  kubeConfigSecretName: 'kubeconfig',
  clusterSource: { kind: 'secret' },
  dependentResourceInfos: [{ ref: { ...template, namespace: 'central' }, scaleUp: {} }],
});
const source = {} as DependentSource;
const key = refKey({ ...template, namespace: 'central' });
it('fills in the names of one cluster, and keeps the watch that all clusters share', () => {
  const { settings, dependents } = forCluster({ settings: central, dependents: new Map([[key, source]]) }, 'one');
  expect(settings.dependentResources.map(({ ref }) => ref)).toEqual([{ ...refOf('one-kcm'), namespace: 'central' }]);
  expect(dependents).toEqual(new Map([['apps/v1/Deployment/central/one-kcm', source]]));
});

it('distinguishes resources of the same name in two namespaces', () => {
  const elsewhere = { ...template, namespace: '{{ namespace }}-cp' };
  const resources = [...central.dependentResources, { ...central.dependentResources[0]!, ref: elsewhere }];
  const { settings, dependents } = forCluster(
    {
      settings: { ...central, dependentResources: resources },
      dependents: new Map([key, refKey(elsewhere)].map((one) => [one, source])),
    },
    'one',
  );
  expect(settings.dependentResources[1]?.ref).toEqual({ ...refOf('one-kcm'), namespace: 'one-cp' });
  expect([...dependents.keys()]).toEqual(['apps/v1/Deployment/central/one-kcm', 'apps/v1/Deployment/one-cp/one-kcm']);
});

it('changes nothing if no name has a placeholder', () => {
  const plain = settingsOf({
    kubeConfigSecretName: 'probe',
    dependentResourceInfos: [{ ref: refOf('kcm'), scaleUp: {} }],
  });
  const deps = { settings: plain, dependents: new Map([[refKey(refOf('kcm')), source]]) };
  expect(forCluster(deps, 'shoot--a')).toBe(deps);
});

it.each([
  ['one-kcm', 'one'],
  ['kcm', undefined],
  ['-kcm', undefined],
  ['one-mcm', undefined],
])('finds the cluster that owns %s: %s', (name, cluster) => {
  const ref = refOf(name);
  expect(findOwned({ settings: central }, { namespace: 'central', ref })?.cluster).toBe(cluster);
  expect(
    findOwned({ settings: central }, { namespace: 'central', ref: { ...ref, kind: 'StatefulSet' } }),
  ).toBeUndefined();
});

it.each([
  [['one'], 'one'],
  [['one-machine'], 'one-machine'],
  [['one', 'one-machine'], 'one'],
  [[], 'one'],
])('prefers, of two names that match, the one of an existing cluster, else the longer one: %j', (known, cluster) => {
  const names = ['{{ cluster }}-controller-manager', '{{ cluster }}-machine-controller-manager'];
  for (const inOrder of [names, names.toReversed()]) {
    const settings = settingsOf({
      kubeConfigSecretName: 'kubeconfig',
      dependentResourceInfos: inOrder.map((name) => ({ ref: { ...refOf(name), namespace: 'central' }, scaleUp: {} })),
    });
    const held = { namespace: 'central', ref: refOf('one-machine-controller-manager') };
    expect(findOwned({ settings, isKnown: (name) => known.includes(name) }, held)?.cluster).toBe(cluster);
  }
});
