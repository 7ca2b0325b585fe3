import { expect, it } from 'vitest';
import { type ShootSettings, sameSettings } from './lifecycle.ts';

const settings = (pools: Readonly<Record<string, readonly string[]>>, nodeMonitorGraceMs?: number): ShootSettings => ({
  poolConditions: new Map(Object.entries(pools)),
  nodeMonitorGraceMs,
});

it.each([
  [true, settings({}, 40_000), settings({}, 40_000)],
  [true, settings({ a: ['X', 'Y'], b: ['Z'] }), settings({ b: ['Z'], a: ['Y', 'X'] })],
  [false, settings({}), settings({}, 40_000)],
  [false, settings({ a: ['X'] }), settings({})],
  [false, settings({ a: ['X'] }), settings({ a: ['X', 'Y'] })],
  [false, settings({ a: ['X'], b: ['Y'] }), settings({ a: ['Y'], b: ['X'] })],
  [false, settings({ a: ['X,Y'] }), settings({ a: ['X', 'Y'] })],
])('settings of a shoot are the same: %s, %o and %o', (is, a, b) => {
  expect([sameSettings(a, b), sameSettings(b, a)]).toEqual([is, is]);
});
