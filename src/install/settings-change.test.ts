import { describe, expect, it } from 'vitest';
import { replicasAnnotation } from '../gardener/scaling-annotations.ts';
import type { HeldResource } from '../prober/held/index.ts';
import { type ProberSettings, proberConfig } from '../prober/index.ts';
import { changedRefs, refusalOf } from './settings-change.ts';

interface Ref {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name: string;
  readonly namespace?: string;
}

const refOf = (ref: Ref) => ({ apiVersion: 'apps/v1', kind: 'Deployment', ...ref });
const dependent = (ref: Ref) => ({ ref: refOf(ref), scaleUp: { level: 0 } });
const settingsOf = (dependents: readonly object[]): ProberSettings =>
  proberConfig.load(
    JSON.stringify({
      kubeConfigSecretName: 'kubeconfig',
      dependentResourceInfos: dependents,
    }),
    { unknownFields: 'error', purpose: 'ahead' },
  ).settings!;

const state = {
  ...{ resourceVersion: '1', specReplicas: 0, readyReplicas: 0, observed: true },
  annotations: { [replicasAnnotation]: '2' },
};
const heldAt = (namespace: string, ref: Ref): HeldResource => ({ namespace, ref: refOf(ref), state });

const refusal = (
  [former, wanted]: readonly [ProberSettings, ProberSettings],
  held: readonly HeldResource[],
): string | undefined => {
  const change = { wanted, former: [former] };
  return changedRefs(change).length === 0 ? undefined : refusalOf(held, change)?.message;
};

const mill = { apiVersion: 'example.com/v1beta1', kind: 'Mill', name: 'mill' };
const kcm = dependent({ name: 'kcm' });
const heldKcm = heldAt('shoot--a', { name: 'kcm' });
const notNamed = /does not name these held resources/;
const ofEach = (...names: readonly string[]) =>
  settingsOf(names.map((name) => dependent({ name, namespace: 'central' })));

describe('a configuration is refused while a resource is held', () => {
  it.each<[string, readonly [ProberSettings, ProberSettings], HeldResource, RegExp]>([
    ['that it does not name', [settingsOf([kcm]), settingsOf([dependent({ name: 'mcm' })])], heldKcm, notNamed],
    [
      'in another namespace',
      [settingsOf([kcm]), settingsOf([dependent({ name: 'kcm', namespace: '{{ namespace }}-cp' })])],
      heldKcm,
      notNamed,
    ],
    [
      'and its name is now that of another cluster',
      [
        ofEach('{{ cluster }}-controller-manager', '{{ cluster }}-machine-controller-manager'),
        ofEach('{{ cluster }}-controller-manager'),
      ],
      heldAt('central', { name: 'one-machine-controller-manager' }),
      notNamed,
    ],
    [
      'and clusters are found in another way',
      [settingsOf([kcm]), { ...settingsOf([kcm]), clusterSource: { key: 'value' } }],
      heldKcm,
      /clusterSource.kind: gardener -> secret/,
    ],
  ])('%s', (_, change, held, message) => {
    expect(refusal(change, [held])).toMatch(message);
    expect(refusal(change, [])).toBeUndefined();
  });
});

describe('a configuration is not refused', () => {
  it.each<[string, readonly [ProberSettings, ProberSettings], HeldResource]>([
    [
      'that names the same object by another version',
      [settingsOf([dependent(mill)]), settingsOf([dependent({ ...mill, apiVersion: 'example.com/v1' })])],
      heldAt('shoot--a', mill),
    ],
    [
      'that writes the namespace out',
      [settingsOf([kcm]), settingsOf([dependent({ name: 'kcm', namespace: '{{ namespace }}' })])],
      heldKcm,
    ],
    [
      'that drops a resource that is not held',
      [settingsOf([kcm, dependent({ name: 'mcm' })]), settingsOf([kcm])],
      heldKcm,
    ],
  ])('%s', (_, change, held) => {
    expect(refusal(change, [held])).toBeUndefined();
  });
});
