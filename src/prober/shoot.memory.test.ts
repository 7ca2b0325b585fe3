import { expect, it } from 'vitest';
import { emptyProbeMemory } from './judge/judgement.ts';
import type { DesiredScaling } from './scale/desired.ts';
import { initialState } from './scale/advance-shoot.ts';
import { memoryOf } from './shoot.ts';

it('the memory for the next prober has the schedule, or an immediate run in an outage', () => {
  const state = initialState({ probe: emptyProbeMemory, nextRunAt: 30_000 });
  const desired: DesiredScaling = { direction: 'down', scope: 'all', reason: '', since: 0, judgedAt: 0 };
  expect(memoryOf(state, 1_000).nextRunAt).toBe(30_000);
  expect(memoryOf({ ...state, desired }, 1_000).nextRunAt).toBe(1_000);
  expect(memoryOf({ ...state, desired: { ...desired, direction: 'up' } }, 1_000).nextRunAt).toBe(30_000);
});
