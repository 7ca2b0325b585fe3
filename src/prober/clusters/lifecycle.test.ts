import { describe, expect, it } from 'vitest';
import { type ShootSettings, sameSettings } from './lifecycle.ts';

describe('settings of a shoot', () => {
  const settings = (pools: Readonly<Record<string, readonly string[]>>, grace?: number): ShootSettings => ({
    poolConditions: new Map(Object.entries(pools)),
    ...(grace === undefined ? {} : { nodeMonitorGraceMs: grace }),
  });

  it.each([
    [settings({}), settings({})],
    [settings({}, 40_000), settings({}, 40_000)],
    [settings({ a: ['X', 'Y'], b: ['Z'] }), settings({ b: ['Z'], a: ['Y', 'X'] })],
  ])('%# are the same', (a, b) => {
    expect(sameSettings(a, b)).toBe(true);
    expect(sameSettings(b, a)).toBe(true);
  });

  it.each([
    [settings({}), settings({}, 40_000)],
    [settings({}, 50_000), settings({}, 40_000)],
    [settings({ a: ['X'] }), settings({})],
    [settings({ a: ['X'] }), settings({ a: ['Y'] })],
    [settings({ a: ['X'] }), settings({ a: ['X', 'Y'] })],
    [settings({ a: ['X'] }), settings({ b: ['X'] })],
    [settings({ a: ['X'], b: ['Y'] }), settings({ a: ['Y'], b: ['X'] })],
    [settings({ a: ['X,Y'] }), settings({ a: ['X', 'Y'] })],
  ])('%# differ', (a, b) => {
    expect(sameSettings(a, b)).toBe(false);
    expect(sameSettings(b, a)).toBe(false);
  });
});
