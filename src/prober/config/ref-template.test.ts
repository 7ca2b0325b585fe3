import { describe, expect, it } from 'vitest';
import { fillTemplate, isOwnNamespace, objectKey, ownerOf, placeholderValue } from './ref-template.ts';

describe('a template', () => {
  it.each([
    ['{{ cluster }}-kubeconfig', 'one', 'one-kubeconfig'],
    ['{{cluster}}', 'one', 'one'],
    ['{{ namespace }}-{{ cluster }}', 'one', 'one-one'],
    ['{{ cluster }}', '$&', '$&'],
    ['plain', 'one', 'plain'],
    ['{{ other }}', 'one', '{{ other }}'],
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
  it.each([
    [{ name: 'kcm' }, 'one/kcm', 'one'],
    [{ name: 'kcm' }, 'one/mcm', undefined],
    [{ name: '{{ cluster }}-kcm' }, 'one/one-kcm', 'one'],
    [{ name: '{{ cluster }}-kcm' }, 'one/two-kcm', undefined],
    [{ name: '{{ namespace }}-kcm', namespace: 'central' }, 'central/one-kcm', 'one'],
    [{ name: '{{ namespace }}-kcm', namespace: 'central' }, 'other/one-kcm', undefined],
    [{ name: 'kcm', namespace: '{{ cluster }}-cp' }, 'one-cp/kcm', 'one'],
    [{ name: '{{ cluster }}-kcm', namespace: '{{ namespace }}-cp' }, 'one-cp/one-kcm', 'one'],
    [{ name: '{{ cluster }}-kcm', namespace: '{{ namespace }}-cp' }, 'one-cp/two-kcm', undefined],
    [{ name: 'kcm', namespace: 'central' }, 'central/kcm', undefined],
  ])('is found by %j for %s: %s', (ref, object, cluster) => {
    const [namespace = '', name = ''] = object.split('/');
    expect(ownerOf(ref, { namespace, name })).toBe(cluster);
  });

  it('has the object that its name leads to', () => {
    const ref = { apiVersion: 'v1', kind: 'K', name: fillTemplate('{{ cluster }}-kcm', 'one') };
    expect(objectKey(ref, 'one')).toBe('one/one-kcm');
    expect(objectKey({ ...ref, namespace: 'other' }, 'one')).toBe('other/one-kcm');
  });
});

it.each([
  ['{{ namespace }}', true],
  ['{{ cluster }}', true],
  ['{{ namespace }}-cp', false],
  ['central', false],
])('%s is the namespace of the control plane: %s', (template, isOwn) => {
  expect(isOwnNamespace(template)).toBe(isOwn);
});
