import { expect, it } from 'vitest';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { DependentSource } from '../../kubernetes/cache/index.ts';
import { formatHeldAnnotation, heldAnnotation } from '../../annotations/held.ts';
import { meltdownProtectionAnnotation } from '../../annotations/scaling-annotations.ts';
import { proberConfig } from '../config/config.ts';
import { objectOf, scalableOf } from '../testing/seed-model.ts';
import { createStaticStore } from '../testing/static-store.ts';
import { clusterOfHeld, configuredAs, forCluster, heldByCluster, isAnyHeldFor } from './held.ts';
import type { ProberSettings } from '../config/settings.ts';

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

const annotationOf = (cluster: string) => ({
  [heldAnnotation]: formatHeldAnnotation({ reason: 'r', by: 'b', cluster }),
});

it.each([
  ['one-kcm', 'one', 'Deployment', true],
  ['one-kcm', 'two', 'Deployment', false],
  ['one-mcm', 'one', 'Deployment', false],
  ['one-kcm', 'one', 'StatefulSet', false],
])('%s, held for cluster %s, of kind %s, is configured: %j', (name, cluster, kind, isSo) => {
  const annotations = annotationOf(cluster);
  expect(clusterOfHeld({ namespace: 'central', annotations })).toBe(cluster);
  const found = configuredAs(central, { namespace: 'central', ref: { ...refOf(name), kind }, annotations });
  expect(found).toBe(isSo ? central.dependentResources[0] : undefined);
});

it('what the Go program holds, without the annotation held, belongs to its namespace', () => {
  expect(clusterOfHeld({ namespace: 'shoot--a', annotations: { [meltdownProtectionAnnotation]: '' } })).toBe(
    'shoot--a',
  );
});

it('groups held resources by the cluster that their annotations name, also if two names match', () => {
  const names = ['{{ cluster }}-controller-manager', '{{ cluster }}-machine-controller-manager'];
  const settings = settingsOf({
    kubeConfigSecretName: 'kubeconfig',
    clusterSource: { kind: 'secret' },
    dependentResourceInfos: names.map((name) => ({ ref: { ...refOf(name), namespace: 'central' }, scaleUp: {} })),
  });
  const object = objectOf(refOf('one-machine-controller-manager'), {
    annotations: { ...annotationOf('one'), [meltdownProtectionAnnotation]: '' },
    replicas: 0,
  });
  const scalable = scalableOf(object);
  const held = { ...scalable, meta: { ...scalable.meta, namespace: 'central' } };
  const store = createStaticStore((at) => (at === 'central/one-machine-controller-manager' ? held : undefined), [held]);
  const dependents = settings.dependentResources.map(({ ref }) => ({ ref, store }));
  expect([...heldByCluster(dependents)].map(([cluster, objects]) => [cluster, objects.length])).toEqual([['one', 1]]);
  const sources = new Map(
    dependents.map(({ ref }) => [refKey(ref), { store, served: () => ({ kind: 'served', resource: 'x' }) as const }]),
  );
  expect(isAnyHeldFor('one', { settings, dependents: sources })).toBe(true);
  expect(isAnyHeldFor('one-machine', { settings, dependents: sources })).toBe(false);
});
