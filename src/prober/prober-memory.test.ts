import { describe, expect, it } from 'vitest';
import { emptyProbeMemory } from './judge/probe-memory.ts';
import type { DesiredScaling, ShootProberState } from './plan/shoot-state.ts';
import { memoryOf } from './prober-memory.ts';

const state: ShootProberState = { probe: emptyProbeMemory, nextRunAt: 30_000, runUnderWay: false, flows: 0 };
const desired: DesiredScaling = { direction: 'down', scope: 'all', reason: '', judgedAt: 0 };

describe('what a prober leaves to the next one', () => {
  it('is the schedule, but at once where a scale-down waits', () => {
    expect(memoryOf(state, 1_000).nextRunAt).toBe(30_000);
    expect(memoryOf({ ...state, next: desired }, 1_000).nextRunAt).toBe(1_000);
    expect(memoryOf({ ...state, next: { ...desired, direction: 'up' } }, 1_000).nextRunAt).toBe(30_000);
  });

  it('is what a standby owes to the leader', () => {
    const standby = { scaledWithoutLead: true, leftToLeaderUntil: 600_000, wasPaused: true } as const;
    expect(memoryOf({ ...state, ...standby }, 1_000).standby).toEqual(standby);
    expect(memoryOf(state, 1_000).standby).toEqual({});
  });
});
