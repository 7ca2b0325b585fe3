import { expect, it } from 'vitest';
import { formatHeldAnnotation, heldAnnotation } from '../../annotations/held.ts';
import { proberConfig } from '../config/config.ts';

import { type HeldResource, inOrder } from './find-held.ts';
import type { ProberSettings } from '../config/settings.ts';

const deployment = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });
const settingsOf = (config: object): ProberSettings =>
  proberConfig.load(JSON.stringify(config), { unknownFields: 'error', purpose: 'ahead' }).settings!;

const heldAt = (place: string, cluster = place.split('/')[0]!): HeldResource => {
  const [namespace = '', name = ''] = place.split('/');
  const annotations = { [heldAnnotation]: formatHeldAnnotation({ reason: 'r', by: 'b', cluster }) };
  return { cluster, namespace, ref: deployment(name), annotations, specReplicas: 0 };
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
  const held = ['b/mcm', 'a/unknown', 'a/ca', 'a/mcm', 'b/kcm', 'a/kcm'].map((place) => heldAt(place));
  expect(namesOf(inOrder(held, settings))).toEqual(['a/kcm', 'a/mcm', 'a/ca', 'a/unknown', 'b/kcm', 'b/mcm']);
});

it('sorts by cluster if the resources of several clusters are in one namespace', () => {
  const settings = settingsOf({
    kubeConfigSecretName: 'kubeconfig',
    dependentResourceInfos: ['a-{{ cluster }}', '{{ cluster }}-kcm'].map((name, index) => ({
      ref: { ...deployment(name), namespace: 'central' },
      scaleUp: { level: 1 - index },
    })),
  });
  const held = [
    heldAt('central/a-two', 'two'),
    heldAt('central/a-one', 'one'),
    heldAt('central/two-kcm', 'two'),
    heldAt('central/one-kcm', 'one'),
  ];
  const sorted = inOrder(held, settings);
  expect(sorted.map(({ cluster }) => cluster)).toEqual(['one', 'one', 'two', 'two']);
  expect(namesOf(sorted)).toEqual(['central/one-kcm', 'central/a-one', 'central/two-kcm', 'central/a-two']);
});
