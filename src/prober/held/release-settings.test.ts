import { expect, it } from 'vitest';
import { proberConfig } from '../config.ts';
import type { HeldResource } from './held.ts';
import { clusterOfHeld, inOrder } from './release-settings.ts';
import type { ProberSettings } from '../settings.ts';

const deployment = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });
const settingsOf = (config: object): ProberSettings =>
  proberConfig.load(JSON.stringify(config), { unknownFields: 'error', purpose: 'ahead' }).settings!;

const state = { resourceVersion: '1', specReplicas: 0, readyReplicas: 0, observed: true, annotations: {} };
const heldAt = (place: string): HeldResource => {
  const [namespace = '', name = ''] = place.split('/');
  return { namespace, ref: deployment(name), state };
};
const namesOf = (held: readonly HeldResource[]) => held.map(({ namespace, ref }) => `${namespace}/${ref.name}`);

it('sorts held resources in the order of restoration, whatever the order of the configuration, and unconfigured ones last', () => {
  const levels = { ca: 2, mcm: 1, kcm: 0 };
  const settings = settingsOf({
    kubeConfigSecretName: 'probe',
    dependentResourceInfos: Object.entries(levels).map(([name, level]) => ({
      ref: deployment(name),
      scaleUp: { level },
    })),
  });
  const held = ['b/mcm', 'a/unknown', 'a/ca', 'a/mcm', 'b/kcm', 'a/kcm'].map(heldAt);
  expect(namesOf(inOrder(held, { settings }))).toEqual(['a/kcm', 'a/mcm', 'a/ca', 'a/unknown', 'b/kcm', 'b/mcm']);
});

it('sorts by cluster if clusters share a namespace', () => {
  const settings = settingsOf({
    kubeConfigSecretName: '{{ cluster }}-kubeconfig',
    clusterSource: { kind: 'cluster-api' },
    dependentResourceInfos: ['a-{{ cluster }}', '{{ cluster }}-kcm'].map((name, index) => ({
      ref: deployment(name),
      scaleUp: { level: 1 - index },
    })),
  });
  const held = ['fleet/a-two', 'fleet/a-one', 'fleet/two-kcm', 'fleet/one-kcm', 'fleet/plain'].map(heldAt);
  const sorted = inOrder(held, { settings });
  expect(sorted.map((resource) => clusterOfHeld({ settings }, resource))).toEqual([
    'fleet',
    'fleet/one',
    'fleet/one',
    'fleet/two',
    'fleet/two',
  ]);
  expect(namesOf(sorted)).toEqual(['fleet/plain', 'fleet/one-kcm', 'fleet/a-one', 'fleet/two-kcm', 'fleet/a-two']);
});

it.each([
  [['fleet/one'], 'fleet/one'],
  [['fleet/one-machine'], 'fleet/one-machine'],
  [['fleet/one', 'fleet/one-machine'], 'fleet/one'],
  [[], 'fleet/one'],
])('prefers, of two names that match, the one of an existing cluster, else the longer one: %j', (known, cluster) => {
  for (const names of [
    ['{{ cluster }}-controller-manager', '{{ cluster }}-machine-controller-manager'],
    ['{{ cluster }}-machine-controller-manager', '{{ cluster }}-controller-manager'],
  ]) {
    const settings = settingsOf({
      kubeConfigSecretName: '{{ cluster }}-kubeconfig',
      clusterSource: { kind: 'cluster-api' },
      dependentResourceInfos: names.map((name) => ({ ref: deployment(name), scaleUp: { level: 0 } })),
    });
    const isKnown = (name: string): boolean => known.includes(name);
    expect(clusterOfHeld({ settings, isKnown }, heldAt('fleet/one-machine-controller-manager'))).toBe(cluster);
  }
});
