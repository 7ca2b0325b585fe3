import { describe, expect, it } from 'vitest';
import { gardenSettings } from '../../../simulator/harness/settings.ts';
import type { Verdict } from './judgement.ts';
import { type ObservedLease } from './leases.ts';
import { graceDeadlineOf, probeSettings, runNeededBy } from './probe-settings.ts';

const [shoot, own] = [undefined, 80_000].map((nodeMonitorGraceMs) => ({
  nodeMonitorGraceMs,
  poolConditions: new Map(),
}));

it("a lease expires after three quarters of the grace period of the Shoot, else of the configuration's", () => {
  expect(probeSettings(gardenSettings, shoot!)).toMatchObject({ graceMs: 40_000, expiryAgeMs: 30_000 });
  expect(probeSettings(gardenSettings, own!)).toMatchObject({ graceMs: 80_000, expiryAgeMs: 60_000 });
});

describe('a run is needed', () => {
  const neededBy = (
    silentSince: readonly number[],
    given: { readonly isHeld?: boolean; readonly scaling?: object } = {},
  ) => {
    const { isHeld = false, scaling } = given;
    const leases = silentSince.map((at) => ({ silentSince: at }) as ObservedLease);
    return runNeededBy({ probe: { leases }, scaling }, { now: 100_000, graceMs: 40_000, isHeld });
  };

  it.each([
    { what: 'at once while no lease is known', leases: [], at: 100_000 },
    { what: 'at once during a scaling', leases: [90_000], given: { scaling: {} }, at: 100_000 },
    {
      what: 'at once during a scaling, even if all is held',
      leases: [90_000],
      given: { scaling: {}, isHeld: true },
      at: 100_000,
    },
    { what: 'a grace period later if all is held', leases: [70_000], given: { isHeld: true }, at: 140_000 },
    { what: 'when the grace period of the first node ends', leases: [90_000, 75_000, 80_000], at: 115_000 },
    { what: 'whatever nodes whose grace period is over', leases: [50_000, 60_000, 90_000], at: 130_000 },
    { what: 'a grace period later if it is over for all', leases: [50_000, 60_000], at: 140_000 },
  ])('$what', ({ leases, given, at }) => {
    expect(neededBy(leases, given)).toBe(at);
  });
});

it.each<[string, Verdict | undefined, object | undefined]>([
  ['no verdict', undefined, undefined],
  ['healthy', { kind: 'healthy', scope: 'all' }, undefined],
  ['unhealthy', { kind: 'unhealthy', crossedAt: 100_000 }, { crossedAt: 100_000, graceEndsAt: 110_000 }],
  ['early', { kind: 'unhealthy', crossedAt: 100_000, earlyByMs: 7_000 }, { crossedAt: 100_000, graceEndsAt: 117_000 }],
])("KCM's grace period ends a quarter of it after the leases have expired: %s", (_, verdict, deadline) => {
  expect(graceDeadlineOf(verdict, gardenSettings, shoot!)).toEqual(deadline);
});
