import { expect, it } from 'vitest';
import { ApiError } from '../kubernetes/api/errors.ts';
import { emptyProbeMemory } from './judge/judgement.ts';
import type { DesiredScaling } from './scale/desired.ts';
import { type ShootProberState, initialState } from './scale/advance-shoot.ts';
import { createScaling } from './scale/scaling.ts';
import { memoryOf } from './shoot.ts';

it('the memory for the next prober has the schedule, or an immediate run if something is to be scaled, but keeps a back-off', () => {
  const state = initialState({ probe: emptyProbeMemory, nextRunAt: 30_000 });
  const desired: DesiredScaling = { direction: 'down', scope: 'all', reason: '', since: 0, judgedAt: 0 };
  const up: DesiredScaling = { ...desired, direction: 'up' };
  const error = new ApiError({ code: 'TooManyRequests', message: '' });
  const throttled = { kind: 'failed', failure: 'throttled', error } as const;
  const scaling = createScaling(up, { now: 0, resources: [], inFlight: new Set(), mustRead: false });
  const rows: readonly (readonly [Partial<ShootProberState>, number])[] = [
    [{}, 30_000],
    [{ desired }, 1_000],
    [{ desired: up }, 30_000],
    [{ desired: up, scaling }, 1_000],
    [{ desired, verdict: throttled }, 30_000],
  ];
  for (const [given, at] of rows) expect(memoryOf({ ...state, ...given }, 1_000).nextRunAt).toBe(at);
});
