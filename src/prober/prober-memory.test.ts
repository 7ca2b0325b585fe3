import { describe, expect, it } from 'vitest';
import { emptyProbeMemory } from './judge/probe-memory.ts';
import type { DesiredScaling, ShootProberState } from './plan/shoot-state.ts';
import { memoryOf } from './prober-memory.ts';

const state: ShootProberState = { probe: emptyProbeMemory, nextRunAt: 30_000, runUnderWay: false, flows: 0 };
const desired: DesiredScaling = { direction: 'down', scope: 'all', reason: '', judgedAt: 0 };

describe('the memory for the next prober', () => {
  it('has the schedule, or an immediate run if a scale-down waits', () => {
    expect(memoryOf(state, 1_000).nextRunAt).toBe(30_000);
    expect(memoryOf({ ...state, pending: desired }, 1_000).nextRunAt).toBe(1_000);
    expect(memoryOf({ ...state, pending: { ...desired, direction: 'up' } }, 1_000).nextRunAt).toBe(30_000);
  });

  it('has the state that keeps a standby from writing again', () => {
    const standby = { scaledWithoutLead: true, leftToLeaderUntil: 600_000, wasPaused: true } as const;
    expect(memoryOf({ ...state, ...standby }, 1_000).standby).toEqual(standby);
    expect(memoryOf(state, 1_000).standby).toEqual({});
  });
});
