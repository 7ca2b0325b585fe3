import { expect, it } from 'vitest';
import { formatHeldAnnotation, heldAnnotation } from '../../annotations/held.ts';
import { proberConfig } from '../config/config.ts';

import { type HeldResource, inOrder } from './find-held.ts';
import type { ProberSettings } from '../config/settings.ts';

const deployment = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });
const settingsOf = (config: object): ProberSettings =>
  proberConfig.load(JSON.stringify(config), { unknownFields: 'error', purpose: 'ahead' }).settings!;

const heldAt = (place: string, cluster: string): HeldResource => {
  const [namespace = '', name = ''] = place.split('/');
  const annotations = { [heldAnnotation]: formatHeldAnnotation({ reason: 'r', by: 'b', cluster }) };
  return { cluster, namespace, ref: deployment(name), annotations, specReplicas: 0 };
};

it('sorts held resources by cluster, each in the order of restoration, and unconfigured ones last', () => {
  const settings = settingsOf({
    kubeConfigSecretName: 'kubeconfig',
    dependentResourceInfos: ['a-{{ cluster }}', '{{ cluster }}-kcm'].map((name, index) => ({
      ref: { ...deployment(name), namespace: 'central' },
      scaleUp: { level: 1 - index },
    })),
  });
  const held = [
    heldAt('central/a-two', 'two'),
    heldAt('central/a-unknown', 'one'),
    heldAt('central/a-one', 'one'),
    heldAt('central/two-kcm', 'two'),
    heldAt('central/one-kcm', 'one'),
  ];
  expect(inOrder(held, settings).map(({ ref }) => ref.name)).toEqual([
    ...['one-kcm', 'a-one', 'a-unknown'],
    ...['two-kcm', 'a-two'],
  ]);
});
