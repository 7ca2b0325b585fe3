import { describe, expect, it } from 'vitest';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { ScalableObject } from '../../kubernetes/api/scalable.ts';
import type { DependentSource } from '../../kubernetes/cache/index.ts';
import type { Store, StoreChange } from '../../kubernetes/cache/store.ts';
import { formatHeldAnnotation, heldAnnotation } from '../../annotations/held.ts';
import { meltdownProtectionAnnotation, replicasAnnotation } from '../../annotations/scaling-annotations.ts';
import { proberConfig } from '../config/config.ts';
import { objectOf, scalableOf } from '../testing/resources.ts';
import { createStaticStore } from '../testing/static-store.ts';
import {
  clusterOfHeld,
  configuredAs,
  forCluster,
  heldByCluster,
  holdsOutside,
  isAnyHeldFor,
  isHeld,
  shownHeld,
  watchForDropped,
  withUnconfigured,
} from './held.ts';
import type { ProberSettings } from '../config/settings.ts';
import type { WatchedDependent } from './watch-dependent.ts';

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
it('fills in the names of one cluster, and keeps the watch that all clusters share, also of the same name in two namespaces', () => {
  const elsewhere = { ...template, namespace: '{{ namespace }}-cp' };
  const resources = [...central.dependentResources, { ...central.dependentResources[0]!, ref: elsewhere }];
  const { settings, dependents } = forCluster(
    {
      settings: { ...central, dependentResources: resources },
      dependents: new Map([key, refKey(elsewhere)].map((one) => [one, source])),
    },
    'one',
  );
  const refs = ['central', 'one-cp'].map((namespace) => ({ ...refOf('one-kcm'), namespace }));
  expect(settings.dependentResources.map(({ ref }) => ref)).toEqual(refs);
  expect(dependents).toEqual(new Map(refs.map((ref) => [refKey(ref), source])));
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
  const up = { ...held, meta: { ...held.meta, annotations: {} } };
  const elsewhere = { ...held, meta: { ...held.meta, namespace: 'two' } };
  const all = [held, up, elsewhere];
  const store = createStaticStore((at) => (at === 'central/one-machine-controller-manager' ? held : undefined), all);
  const dependents = settings.dependentResources.map(({ ref }) => ({ ref, store }));
  expect([...heldByCluster(dependents)].map(([cluster, objects]) => [cluster, objects.length])).toEqual([['one', 1]]);
  const sources = new Map(
    dependents.map(({ ref }) => [refKey(ref), { store, served: () => ({ kind: 'served', resource: 'x' }) as const }]),
  );
  expect(isAnyHeldFor('one', { settings, dependents: sources })).toBe(true);
  expect(isAnyHeldFor('one', { settings, dependents: sources }, () => false)).toBe(false);
  expect(isAnyHeldFor('one-machine', { settings, dependents: sources })).toBe(false);
});

const active = { [meltdownProtectionAnnotation]: '' };
const stored = { [replicasAnnotation]: '3' };

it.each([
  ['annotated, at 0', active, 0, true],
  ['annotated, and up', active, 2, true],
  ['annotated, of an unknown count', active, undefined, true],
  ['its former count stored, at 0', stored, 0, true],
  ['its former count stored, and up', stored, 2, false],
  ['its former count stored, of an unknown count', stored, undefined, false],
  ['not annotated, at 0', {}, 0, false],
])('a resource is held: %s', (_, annotations, specReplicas, isSo) => {
  expect(isHeld({ annotations }, specReplicas)).toBe(isSo);
});

it('a held resource is shown with the count to restore, and since when it is held', () => {
  const since = Date.parse('2026-11-21T06:00:00Z');
  const annotations = { ...stored, [heldAnnotation]: formatHeldAnnotation({ since, reason: 'r', by: 'b' }) };
  const shown = { kind: 'Deployment', name: 'kcm', replicas: 3 };
  expect(shownHeld({ ...refOf('kcm'), annotations })).toEqual({ ...shown, since: '2026-11-21T06:00:00Z' });
  expect(shownHeld({ ...refOf('kcm'), annotations: stored })).toEqual(shown);
});

it.each([
  [undefined, false],
  ['{{ namespace }}', false],
  ['{{ cluster }}-cp', true],
  ['central', true],
])('a resource in %s is outside of its cluster: %s', (namespace, isSo) => {
  const resource = { ...central.dependentResources[0]!, ref: { ...template, namespace } };
  expect(holdsOutside({ dependentResources: [resource] })).toBe(isSo);
});

describe('a resource that only a held one names', () => {
  const levels = { kcm: 2, mcm: 1 };
  const settings = settingsOf({
    kubeConfigSecretName: 'probe',
    dependentResourceInfos: Object.entries(levels).map(([name, level]) => ({ ref: refOf(name), scaleUp: { level } })),
  });
  const heldBy = (by: string, ...names: readonly string[]) => {
    const annotation = formatHeldAnnotation({ reason: 'r', by, cluster: 'a', with: names.map(refOf) });
    return { namespace: 'a', annotations: { ...active, [heldAnnotation]: annotation } };
  };
  const heldWith = (...names: readonly string[]) => heldBy('b', ...names);

  it('is restored after all others', () => {
    const held = [{ namespace: 'a', annotations: active }, heldWith('kcm', 'ccm'), heldWith('ccm')];
    expect(withUnconfigured(settings, held).dependentResources).toEqual([
      ...settings.dependentResources,
      {
        ref: refOf('ccm'),
        scaleUp: { level: 3, initialDelayMs: 0, timeoutMs: 60_000 },
        optional: true,
        restoreOnly: true,
      },
    ]);
    expect(withUnconfigured({ ...settings, dependentResources: [] }, held).dependentResources).toMatchObject([
      { ref: refOf('kcm'), scaleUp: { level: 1 } },
      { ref: refOf('ccm'), scaleUp: { level: 1 } },
    ]);
  });

  it('may be in another namespace, and have the name of the cluster in its own', () => {
    const ref = { ...refOf('{{ cluster }}-ccm'), namespace: '{{ cluster }}-cp' };
    const annotation = formatHeldAnnotation({ reason: 'r', by: 'b', cluster: 'a', with: [ref] });
    const held = [{ namespace: 'a', annotations: { ...active, [heldAnnotation]: annotation } }];
    const all = withUnconfigured(settings, held);
    expect(all.dependentResources.slice(2)).toMatchObject([{ ref }]);
    expect(withUnconfigured(all, held)).toEqual(all);
  });

  it('is told of once, as soon as a watch shows it', () => {
    const scalable = scalableOf(objectOf(refOf('kcm')));
    const withMeta = (meta: object): ScalableObject => ({ ...scalable, meta: { ...scalable.meta, ...meta } });
    const listeners = new Set<(change: StoreChange<ScalableObject>) => void>();
    const watchOf = (...listed: readonly ScalableObject[]) => {
      const subscribe: Store<ScalableObject>['subscribe'] = (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      };
      return { store: { ...createStaticStore(() => undefined, listed), subscribe } } as unknown as WatchedDependent;
    };
    const told: number[] = [];
    const tell = ({ dependentResources }: ProberSettings): void => void told.push(dependentResources.length);
    const search = { settings, identity: 'own', found: tell };
    const end = watchForDropped([watchOf(scalable, withMeta(heldWith('kcm', 'mcm')))], search);
    const show = (type: 'set' | 'deleted', meta: object): void => {
      for (const listener of listeners) listener({ type, key: 'a/kcm', value: withMeta(meta) });
    };
    show('set', scalable.meta);
    show('deleted', heldWith('ccm'));
    show('set', heldBy('own', 'ccm'));
    expect(told).toEqual([]);
    show('set', heldWith('ccm'));
    show('set', heldWith('ccm', 'csi'));
    expect(told).toEqual([3]);
    end();
    expect(listeners.size).toBe(0);
    watchForDropped([watchOf(withMeta(heldWith('ccm', 'csi')))], search);
    expect(told).toEqual([3, 4]);
  });
});
