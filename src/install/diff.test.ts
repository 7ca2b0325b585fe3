import { describe, expect, it } from 'vitest';
import { differencesOf } from './diff.ts';
import type { KubeObject } from './object.ts';

const objectOf = (kind: string, fields: object): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'a', resourceVersion: '1', managedFields: [] },
  ...fields,
});

const between = (before: object, after: object, kind = 'Deployment') =>
  differencesOf(objectOf(kind, before), objectOf(kind, after));

describe('the differences of an object', () => {
  it('are none if only the API server has written', () => {
    const metadata = { name: 'a', resourceVersion: '2', generation: 7, managedFields: [{ manager: 'x' }], uid: 'u' };
    expect(between({ spec: { a: 1 }, status: { ready: 1 } }, { spec: { a: 1 }, metadata })).toEqual([]);
  });

  it('list changed, added and removed fields', () => {
    expect(between({ spec: { a: 1, b: [1, 2] } }, { spec: { a: 2, b: [1], c: { d: true } } })).toEqual([
      { path: 'spec.a', before: 1, after: 2 },
      { path: 'spec.b[1]', before: 2 },
      { path: 'spec.c', after: { d: true } },
    ]);
  });

  it('compare named items by name, so that an added item does not change all others', () => {
    const [one, two, three] = [
      { name: 'one', image: 'a' },
      { name: 'two', image: 'b' },
      { name: 'three', image: 'c' },
    ];
    expect(between({ spec: [two, three] }, { spec: [one, { ...two, image: 'x' }, three] })).toEqual([
      { path: 'spec[name=two].image', before: 'b', after: 'x' },
      { path: 'spec[name=one]', after: one },
    ]);
  });

  it('never hold a value of a Secret', () => {
    const differences = between(
      { data: { a: 'c2VjcmV0' } },
      { data: { a: 'b3RoZXI=', b: 'bmV3' }, type: 'x' },
      'Secret',
    );
    expect(differences).toEqual([
      { path: 'data.a', before: '(hidden)', after: '(hidden)' },
      { path: 'data.b', after: '(hidden)' },
      { path: 'type', after: 'x' },
    ]);
    expect(between({}, { data: { a: 'c2VjcmV0' } }, 'Secret')).toEqual([{ path: 'data', after: '(hidden)' }]);
  });
});
