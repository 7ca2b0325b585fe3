import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heldAnnotation } from './held.ts';
import {
  hasOurAnnotations,
  ignoreScalingAnnotation,
  ignoresScaling,
  hasActive,
  meltdownProtectionAnnotation,
  replicasAnnotation,
  replicasToRestore,
} from './scaling-annotations.ts';

const withAnnotations = (annotations: Readonly<Record<string, string>>) => ({ annotations });

it('uses the annotations of the specification', () => {
  expect([ignoreScalingAnnotation, replicasAnnotation, meltdownProtectionAnnotation]).toEqual([
    'dependency-watchdog.gardener.cloud/ignore-scaling',
    'dependency-watchdog.gardener.cloud/replicas',
    'dependency-watchdog.gardener.cloud/meltdown-protection-active',
  ]);
});

describe('replicasToRestore', () => {
  it.each([
    ['1', 1],
    ['007', 7],
    ['2147483647', 2_147_483_647],
  ])('%j is %d', (text, replicas) => {
    expect(replicasToRestore(withAnnotations({ [replicasAnnotation]: text }))).toEqual({ replicas });
  });

  it.each(['', '0', '-1', '2147483648', '99999999999999999999', ' 3', '3\n', '1.0', '３'])(
    '%j cannot be read, so it is 1',
    (text) => {
      const state = withAnnotations({ [replicasAnnotation]: text });
      expect(replicasToRestore(state)).toEqual({ replicas: 1, unreadable: text });
    },
  );

  it('is 1 without the annotation, which is not reported as unreadable', () => {
    expect(replicasToRestore(withAnnotations({}))).toEqual({ replicas: 1 });
  });

  it('is a valid count for every text, and the same count for every count', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer().map(String), fc.double().map(String)), (text) => {
        const { replicas } = replicasToRestore(withAnnotations({ [replicasAnnotation]: text }));
        expect(Number.isInteger(replicas) && replicas >= 1 && replicas <= 2_147_483_647).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_147_483_647 }), (count) => {
        const state = withAnnotations({ [replicasAnnotation]: String(count) });
        expect(replicasToRestore(state)).toEqual({ replicas: count });
      }),
    );
  });
});

describe('the annotations', () => {
  it.each(['1', 't', 'T', 'TRUE', 'true', 'True'])('ignore-scaling %j is true', (text) => {
    expect(ignoresScaling(withAnnotations({ [ignoreScalingAnnotation]: text }))).toBe(true);
  });

  it.each(['', '0', 'f', 'F', 'FALSE', 'false', 'False', 'yes', 'on', 'tRUE', 'TrUe', ' true', 'true ', '2', '01'])(
    'ignore-scaling %j is not true',
    (text) => {
      expect(ignoresScaling(withAnnotations({ [ignoreScalingAnnotation]: text }))).toBe(false);
    },
  );

  it.each<[annotations: Readonly<Record<string, string>>, held: boolean, marked: boolean]>([
    [{}, false, false],
    [{ [meltdownProtectionAnnotation]: '' }, true, true],
    [{ [meltdownProtectionAnnotation]: 'false' }, true, true],
    [{ [replicasAnnotation]: '' }, false, true],
    [{ [heldAnnotation]: '{}' }, false, true],
    [{ [ignoreScalingAnnotation]: 'true' }, false, false],
  ])('%j count by their presence: held %s, ours %s', (annotations, held, marked) => {
    expect([hasActive({ annotations }), hasOurAnnotations({ annotations })]).toEqual([held, marked]);
  });
});
