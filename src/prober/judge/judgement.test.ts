import { expect, it } from 'vitest';
import { gardenSettings } from '../../../simulator/harness/settings.ts';
import { probeSettings } from './judgement.ts';

it.each([
  [undefined, { graceMs: 40_000, expiryAgeMs: 30_000 }],
  [80_000, { graceMs: 80_000, expiryAgeMs: 60_000 }],
])(
  "a lease expires after three quarters of the grace period of the Shoot, else of the configuration's: %s",
  (own, expected) => {
    const shoot = { nodeMonitorGraceMs: own, poolConditions: new Map() };
    expect(probeSettings(gardenSettings, shoot)).toMatchObject(expected);
  },
);
