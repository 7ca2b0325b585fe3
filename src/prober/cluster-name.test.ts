import { describe, expect, it } from 'vitest';
import {
  clusterOf,
  eventMessage,
  fillTemplate,
  objectKey,
  parseClusterName,
  placeholderValue,
} from './cluster-name.ts';

describe('the name of a cluster', () => {
  it.each([
    ['tenant', { namespace: 'tenant', cluster: 'tenant' }],
    ['tenant/one', { namespace: 'tenant', cluster: 'one' }],
  ])('%s is split into namespace and cluster', (name, place) => {
    expect(parseClusterName(name)).toEqual(place);
  });

  it.each([
    ['{{ cluster }}-kubeconfig', 'tenant/one', 'one-kubeconfig'],
    ['{{cluster}}', 'tenant/one', 'one'],
    ['{{ namespace }}-{{ cluster }}', 'tenant/one', 'tenant-one'],
    ['{{ cluster }}', 'tenant', 'tenant'],
    ['plain', 'tenant/one', 'plain'],
    ['{{ other }}', 'tenant/one', '{{ other }}'],
  ])('%s is filled in with %s: %s', (template, name, text) => {
    expect(fillTemplate(template, name)).toBe(text);
  });

  it.each([
    ['{{ cluster }}-kcm', 'one-kcm', 'one'],
    ['{{ cluster }}-kcm', 'one-two-kcm', 'one-two'],
    ['kcm-{{ cluster }}', 'kcm-one', 'one'],
    ['{{ cluster }}-kcm', '-kcm', undefined],
    ['{{ cluster }}-kcm', 'one-mcm', undefined],
    ['a{{ cluster }}a', 'a', undefined],
    ['kcm', 'kcm', ''],
    ['kcm', 'mcm', undefined],
  ])('%s matches %s with the value: %s', (template, text, word) => {
    expect(placeholderValue(template, text)).toBe(word);
  });
});

describe('the cluster of an object', () => {
  const kcm = { namespace: 'tenant', name: 'one-kcm' };

  it.each([
    { ref: { name: '{{ cluster }}-kcm' }, shared: 'tenant/one', alone: undefined },
    { ref: { name: '{{ namespace }}-kcm' }, shared: undefined, alone: undefined },
    { ref: { name: 'one-kcm' }, shared: 'tenant', alone: 'tenant' },
    { ref: { name: 'kcm' }, shared: undefined, alone: undefined },
    { ref: { name: '{{ cluster }}-kcm', namespace: 'tenant' }, shared: 'one/one', alone: 'one' },
    { ref: { name: '{{ namespace }}-kcm', namespace: '{{ cluster }}' }, shared: 'one/tenant', alone: undefined },
    { ref: { name: '{{ cluster }}-kcm', namespace: 'other' }, shared: undefined, alone: undefined },
  ])('is found by $ref', ({ ref, shared, alone }) => {
    expect(clusterOf(ref, kcm, true)).toBe(shared);
    expect(clusterOf(ref, kcm, false)).toBe(alone);
  });

  it('has the object that its name leads to', () => {
    const ref = { apiVersion: 'v1', kind: 'K', name: fillTemplate('{{ cluster }}-kcm', 'tenant/one') };
    expect(objectKey(ref, 'tenant/one')).toBe('tenant/one-kcm');
    expect(objectKey({ ...ref, namespace: 'other' }, 'tenant/one')).toBe('other/one-kcm');
  });
});

it('names a cluster in the messages of Events if it shares its namespace', () => {
  expect([eventMessage('shoot--a', 'scaled'), eventMessage('fleet/one', 'scaled')]).toEqual([
    'scaled',
    'fleet/one: scaled',
  ]);
});
