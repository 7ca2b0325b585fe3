import { expect, it } from 'vitest';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { DependentSource } from '../../kubernetes/cache/index.ts';
import { proberConfig } from '../config.ts';
import { findOwned, forCluster } from './cluster-owner.ts';
import type { DependentResource, ProberSettings } from '../settings.ts';

const refOf = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });
const settingsOf = (config: object): ProberSettings =>
  proberConfig.load(JSON.stringify(config), { unknownFields: 'error', purpose: 'ahead' }).settings!;

const template = refOf('{{ cluster }}-kcm');
const shared = settingsOf({
  kubeConfigSecretName: '{{ cluster }}-kubeconfig',
  clusterSource: { kind: 'cluster-api' },
  apiServerRef: refOf('{{ cluster }}-apiserver'),
  dependentResourceInfos: [{ ref: { ...template, namespace: '{{ namespace }}' }, scaleUp: {} }],
});
/** A resource that an earlier configuration named, and that is still held. */
const dropped: DependentResource = {
  ...{ ref: refOf('kcm'), optional: true, restoreOnly: true },
  scaleUp: { level: 0, initialDelayMs: 0, timeoutMs: 1 },
};
const both = { ...shared, dependentResources: [...shared.dependentResources, dropped] };
const source = {} as DependentSource;

it('fills in the names of one cluster, and keeps the watch that all clusters share', () => {
  const { settings, dependents } = forCluster(
    { settings: both, dependents: new Map([[refKey(template), source]]) },
    'fleet/one',
  );
  expect(settings).toMatchObject({ kubeConfigSecretName: 'one-kubeconfig', apiServerRef: { name: 'one-apiserver' } });
  expect(settings.dependentResources.map(({ ref }) => ref)).toEqual([refOf('one-kcm')]);
  expect(dependents).toEqual(new Map([['apps/v1/Deployment/one-kcm', source]]));
});

it('distinguishes resources of the same name in two namespaces', () => {
  const elsewhere = { ...template, namespace: '{{ namespace }}-cp' };
  const resources = [...shared.dependentResources, { ...shared.dependentResources[0]!, ref: elsewhere }];
  const { settings, dependents } = forCluster(
    {
      settings: { ...shared, dependentResources: resources },
      dependents: new Map([refKey(template), refKey(elsewhere)].map((key) => [key, source])),
    },
    'fleet/one',
  );
  expect(settings.dependentResources[1]?.ref).toEqual({ ...refOf('one-kcm'), namespace: 'fleet-cp' });
  expect([...dependents.keys()]).toEqual(['apps/v1/Deployment/one-kcm', 'apps/v1/Deployment/fleet-cp/one-kcm']);
});

it('assigns a resource without a cluster in its name to the namespace', () => {
  const { settings } = forCluster({ settings: both, dependents: new Map() }, 'fleet');
  expect(settings.dependentResources).toEqual([dropped]);
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
  ['one-kcm', 'fleet/one'],
  ['kcm', 'fleet'],
  ['-kcm', undefined],
  ['one-mcm', undefined],
])('finds the cluster that owns %s: %s', (name, cluster) => {
  expect(findOwned({ settings: both }, { namespace: 'fleet', ref: refOf(name) })?.cluster).toBe(cluster);
  expect(
    findOwned({ settings: both }, { namespace: 'fleet', ref: { ...refOf(name), kind: 'StatefulSet' } }),
  ).toBeUndefined();
});
