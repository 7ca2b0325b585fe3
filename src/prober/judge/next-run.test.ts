import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failedVerdict, upVerdict } from '../testing/cases.ts';
import { emptyLeaseHistory } from './lease-history.ts';
import { type NextRun, nextRunDue, runNeededBy, runSooner, scheduleAfter } from './next-run.ts';
import type { Decision } from './decision.ts';
import { emptyProbeMemory } from './probe-memory.ts';
import type { Verdict } from './verdict.ts';

const skip: Verdict = { kind: 'skipped' };
const ended = (verdict: Verdict, times: { readonly nextRunAt: number; readonly verdictMayTurnAt?: number }) =>
  ({ verdict, reason: '', memory: emptyProbeMemory, ...times }) satisfies Decision;

describe('a change of the external probe', () => {
  it.each<readonly [what: string, state: NextRun & { readonly verdict?: Verdict }, isUnreachable: boolean, at: number]>(
    [
      [
        'unreachable: when the leases may change the verdict',
        { nextRunAt: 90, verdict: upVerdict, verdictMayTurnAt: 50 },
        true,
        50,
      ],
      [
        'unreachable: at once if the leases already may',
        { nextRunAt: 90, verdict: upVerdict, verdictMayTurnAt: 5 },
        true,
        20,
      ],
      [
        'unreachable: not later than the next run',
        { nextRunAt: 40, verdict: upVerdict, verdictMayTurnAt: 50 },
        true,
        40,
      ],
      ['unreachable: no sooner if the verdict cannot change', { nextRunAt: 90, verdict: upVerdict }, true, 90],
      ['unreachable: no sooner after a failed run', { nextRunAt: 90, verdict: failedVerdict }, true, 90],
      ['unreachable: no sooner before the first run', { nextRunAt: 90 }, true, 90],
      [
        'unreachable a second time: not later than before',
        { nextRunAt: 90, verdict: upVerdict, verdictMayTurnAt: 50, runBy: 30 },
        true,
        30,
      ],
      ['no longer reachable: at once after a veto', { nextRunAt: 90, verdict: skip, verdictMayTurnAt: 10 }, false, 20],
      [
        'no longer reachable: no sooner if only an unreachable address counts',
        { nextRunAt: 90, verdict: upVerdict, verdictMayTurnAt: 50 },
        false,
        90,
      ],
      ['no longer reachable: no sooner after another skip', { nextRunAt: 90, verdict: skip }, false, 90],
    ],
  )('(%s)', (_, state, isUnreachable, at) => {
    expect(nextRunDue(runSooner(state, { isUnreachable, now: 20 }))).toBe(at);
  });

  it('never delays the next run', () => {
    const time = fc.integer({ min: 0, max: 100 });
    const states = fc.record(
      { nextRunAt: time, runBy: time, verdictMayTurnAt: time, verdict: fc.constantFrom(skip, upVerdict) },
      { requiredKeys: ['nextRunAt', 'verdict'] },
    );
    fc.assert(
      fc.property(states, fc.boolean(), time, (state, isUnreachable, now) => {
        expect(nextRunDue(runSooner(state, { isUnreachable, now }))).toBeLessThanOrEqual(nextRunDue(state));
      }),
    );
  });
});

describe('a run that has ended', () => {
  const asked: NextRun = { nextRunAt: 10, runBy: 12, verdictMayTurnAt: 12 };

  it('keeps the earlier run that was requested while it was in progress', () => {
    const observation = scheduleAfter(asked, ended(upVerdict, { nextRunAt: 90, verdictMayTurnAt: 50 }));
    expect(observation).toEqual({ nextRunAt: 90, runBy: 12, verdictMayTurnAt: 50 });
    expect(scheduleAfter({ nextRunAt: 10 }, ended(upVerdict, { nextRunAt: 90, verdictMayTurnAt: 50 }))).toEqual({
      nextRunAt: 90,
      verdictMayTurnAt: 50,
    });
  });

  it('drops the earlier run if it failed, or if the external probe cannot change the verdict', () => {
    expect(scheduleAfter(asked, ended(failedVerdict, { nextRunAt: 90 }))).toEqual({ nextRunAt: 90 });
  });
});

describe('a run that is due', () => {
  const probe = (...renewedAt: number[]) => ({
    ...emptyProbeMemory,
    history: {
      ...emptyLeaseHistory,
      names: renewedAt.map(String),
      renewedAt,
      renewTimes: renewedAt,
    },
  });
  it.each([
    ['at the end of the grace period of the oldest lease', { probe: probe(85, 75, 95) }, 115],
    ['at the end of the first grace period that is not over', { probe: probe(85, 60, 10) }, 125],
    ['a grace period from now if all are over', { probe: probe(50, 60) }, 140],
    ['a grace period from now if resources are held', { probe: probe(85, 75), isHeld: true }, 140],
    ['now while they are being scaled', { probe: probe(85, 75), isHeld: true, flow: {} }, 100],
    ['now if no lease is known yet', { probe: probe() }, 100],
  ])(
    'is needed %s',
    (_, { isHeld = false, ...state }: Parameters<typeof runNeededBy>[0] & { readonly isHeld?: boolean }, at) => {
      expect(runNeededBy(state, { now: 100, graceMs: 40, isHeld })).toBe(at);
    },
  );
});
