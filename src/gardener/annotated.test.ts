import { expect, it } from 'vitest';
import { describeStoredValue, isAnnotatedByUs, restoreTargetOf } from './annotated.ts';
import {
  meltdownProtectionAnnotation as active,
  formerAnnotation as former,
  replicasAnnotation,
} from './scaling-annotations.ts';

const key = 'cluster.x-k8s.io/paused';
const configured = { key, value: 'dwd' };
const stored = JSON.stringify({ key, value: 'dwd', former: 'true' });
const annotation = { replicas: 1, annotation: key };

it.each([
  ['a held resource', { [key]: 'dwd', [active]: '', [former]: stored }, true, annotation, '"true"'],
  ['a held resource without its stored value', { [key]: 'dwd', [active]: '' }, true, annotation, undefined],
  ['a held resource without its mark', { [key]: 'dwd', [former]: stored }, true, annotation, '"true"'],
  ['a resource with only the mark', { [active]: '' }, false, annotation, undefined],
  ['a resource that another client has paused with our value', { [key]: 'dwd' }, false, annotation, undefined],
  [
    'a resource that is held by its count',
    { [active]: '', [replicasAnnotation]: '3' },
    false,
    { replicas: 3 },
    undefined,
  ],
])('recognizes and describes %s', (_, annotations, isOurs, restorable, words) => {
  expect(isAnnotatedByUs(annotations, configured)).toBe(isOurs);
  expect(restoreTargetOf(annotations, configured)).toEqual(restorable);
  expect(describeStoredValue(annotations)).toBe(words);
});
