import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kubernetes/api/errors.ts';
import type { ExternalProbeMode } from '../settings.ts';
import {
  type ProbeRun,
  defaultSettings,
  disturbed,
  held,
  leasesOf,
  nodeOf,
  runProbes,
  undisturbed,
  bySingleLeases,
} from '../testing/probe-run.ts';
import type { ExternalProbeView, Reachability } from './probe-input.ts';
import { emptyProbeMemory } from './probe-memory.ts';

const since = 90_000;
const view = (mode: ExternalProbeMode, state: Reachability): ExternalProbeView =>
  state === 'unreachable' ? { mode, state, since } : { mode, state };
const trigger = view('trigger', 'unreachable');

/** Result of a run at 100 s after runs at 60, 80 and 90 s that each saw a renewal. */
const last = (renewedAt: readonly (number | null)[], run: Partial<ProbeRun> = {}) => {
  const { externalProbe, ...rest } = run;
  const observations = [60_000, 80_000, 90_000].map((at): ProbeRun => {
    const seen = renewedAt.map((time) => (time === null ? null : Math.min(time, at - 1_000)));
    return { at, leases: leasesOf(seen), ...rest };
  });
  const result = runProbes(emptyProbeMemory, [
    ...observations,
    { at: 100_000, leases: leasesOf(renewedAt), externalProbe, ...rest },
  ]);
  return result.at(-1)!;
};

const modes = ['observe', 'confirm', 'trigger'] as const;
const states = ['unknown', 'reachable', 'unreachable'] as const;
const every = modes.flatMap((mode) => states.map((state) => [mode, state] as const));

describe('leases that require a scale-down', () => {
  const expired = [50_000, 50_000, 50_000, 99_000];

  it.each(every)('with an external probe in mode %s that is %s', (mode, state) => {
    const isVetoed = mode !== 'observe' && state === 'reachable';
    const { decision } = last(expired, { externalProbe: view(mode, state) });
    expect(decision.verdict).toEqual(isVetoed ? { kind: 'skipped' } : { kind: 'unhealthy', crossedAt: 80_000 });
    expect(decision.counts).toEqual({ candidates: 4, expired: 3 });
    expect(decision.nextRunAt).toBe(110_000);
    if (isVetoed) {
      expect(decision.reason).toBe(
        '3/4 node leases expired, threshold 0.6, but the outside path is whole: nothing is scaled',
      );
      expect(decision.verdictMayTurnAt).toBe(100_000);
    }
  });

  it('seen for the first time are confirmed before the external probe may veto', () => {
    const leases = leasesOf([50_000, 50_000]);
    const externalProbe = view('confirm', 'reachable');
    const [first, second] = runProbes(emptyProbeMemory, [
      { at: 100_000, leases, externalProbe },
      { at: 102_000, leases, externalProbe },
    ]);
    expect([first, second].map((run) => run?.decision.verdict.kind)).toEqual(['confirming', 'skipped']);
  });
});

describe('leases below the threshold', () => {
  it.each(every)('with no renewal for 15 s, and an external probe in mode %s that is %s', (mode, state) => {
    const { decision } = last([79_000, 82_000, 84_000], { externalProbe: view(mode, state) });
    const isDecisive = mode === 'trigger' && state === 'unreachable';
    expect(decision.verdict).toEqual(
      isDecisive ? { kind: 'unhealthy', crossedAt: 99_000, earlyByMs: 13_000 } : { kind: 'healthy', scope: 'all' },
    );
    if (isDecisive) {
      expect(decision.reason).toBe(
        '0/3 node leases expired, threshold 0.6; no node has renewed for 15 s and the outside path is broken',
      );
    }
  });

  it.each([
    ['the last candidate is silent for 15 s', [80_000, 84_900, 85_000], 'unhealthy'],
    ['the last candidate is not yet silent for 15 s', [80_000, 84_900, 85_001], 'healthy'],
    ['one of many candidates renews', [40_000, 80_000, 80_000, 80_000, 99_000], 'healthy'],
    ['two candidates', [85_000, 85_000], 'unhealthy'],
    ['one candidate', [85_000], 'skipped'],
    ['no candidate', [], 'healthy'],
    ['one lease has no renewTime', [85_000, null], 'unhealthy'],
  ] as const)('(%s, the address unreachable)', (_, renewedAt, kind) => {
    expect(last(renewedAt, { externalProbe: trigger }).decision.verdict.kind).toBe(kind);
  });

  it('trigger a scale-down only if all candidates are silent', () => {
    const renewedAt = [80_000, 82_000, 99_000, 99_000];
    const verdictOf = (names: readonly string[]) =>
      last(renewedAt, { externalProbe: trigger, nodes: names.map((name) => nodeOf(name)) }).decision;
    expect(verdictOf(['node-1', 'node-2']).verdict.kind).toBe('unhealthy');
    expect(verdictOf(['node-1', 'node-2']).counts).toEqual({ candidates: 2, expired: 0 });
    expect(verdictOf(['node-1', 'node-2', 'node-3']).verdict.kind).toBe('healthy');
    expect(verdictOf(['node-1']).verdict.kind).toBe('skipped');
  });

  it('report the instant at which all conditions held, and the time gained', () => {
    const externalProbe = { ...trigger, since: 99_500 };
    const { decision } = last([79_000, 82_000, 84_000], { externalProbe });
    expect(decision.verdict).toEqual({ kind: 'unhealthy', crossedAt: 99_500, earlyByMs: 12_500 });
  });
});

describe('a trigger', () => {
  const silent = (runs: readonly ProbeRun[]) => runProbes(emptyProbeMemory, runs).at(-1)!.decision;

  it('does not rest on timestamps of leases never seen renewed: they count from the first observation', () => {
    const leases = leasesOf([75_000, 75_000]);
    const observation = (at: number): ProbeRun => ({ at, leases, externalProbe: trigger });
    expect(silent([observation(95_000)]).verdict.kind).toBe('healthy');
    expect(silent([observation(95_000)]).nextRunAt).toBe(105_000);
    expect(silent([observation(86_000), observation(100_999)]).verdict.kind).toBe('healthy');
    expect(silent([observation(86_000), observation(101_000)]).verdict.kind).toBe('unhealthy');
    // By then the leases have expired.
    expect(silent([observation(95_000), observation(106_000)]).verdict).toEqual({
      kind: 'unhealthy',
      crossedAt: 105_000,
    });
  });

  it('does not rest on a timestamp that was just observed, after a long gap between observations', () => {
    const before: ProbeRun = { at: 60_000, leases: leasesOf([59_000, 59_000]), externalProbe: trigger };
    const leases = leasesOf([80_000, 80_000]);
    const seen = silent([before, { at: 100_000, leases, externalProbe: trigger }]);
    expect(seen).toMatchObject({ verdict: { kind: 'healthy' }, nextRunAt: 102_000 });
    const again: ProbeRun = { at: 102_000, leases, externalProbe: trigger };
    expect(silent([before, { at: 100_000, leases, externalProbe: trigger }, again]).verdict.kind).toBe('unhealthy');
    const renewed = leasesOf([80_000, 101_000]);
    expect(
      silent([before, { at: 100_000, leases, externalProbe: trigger }, { ...again, leases: renewed }]).verdict.kind,
    ).toBe('healthy');
  });

  it('does not count the time before the end of downtime, however short', () => {
    const error = new ApiError({ code: 'ConnectionError', message: 'refused' });
    const renewedAt = [84_000, 85_000];
    const observations = [60_000, 80_000, 86_000].map((at): ProbeRun => {
      const seen = renewedAt.map((time) => Math.min(time, at - 1_000));
      return { at, leases: leasesOf(seen), externalProbe: trigger };
    });
    const away: ProbeRun = { at: 95_000, leases: [], failures: { version: error }, externalProbe: trigger };
    const back = (at: number): ProbeRun => ({ at, leases: leasesOf(renewedAt), externalProbe: trigger });
    expect(silent([...observations, back(100_000)]).verdict.kind).toBe('unhealthy');
    expect(silent([...observations, away, back(100_000)])).toMatchObject({
      verdict: { kind: 'healthy' },
      nextRunAt: 110_000,
    });
    expect(silent([...observations, away, back(100_000), back(112_000)]).verdict.kind).toBe('healthy');
    expect(silent([...observations, away, back(98_000), back(113_000)]).verdict.kind).toBe('unhealthy');
  });

  it('does not follow from a run whose GET /version failed', () => {
    const error = new ApiError({ code: 'Timeout', message: 'late' });
    const failures = { version: error };
    const [, decision] = runProbes(emptyProbeMemory, [
      { at: 60_000, leases: leasesOf([59_000, 59_000]), externalProbe: trigger },
      { at: 100_000, leases: leasesOf([59_000, 59_000]), externalProbe: trigger, failures },
    ]);
    expect(decision?.decision.verdict.kind).toBe('failed');
  });
});

describe('a held shoot', () => {
  const settings = { ...defaultSettings, landingTimeoutMs: 0 };

  it.each(every)('whose leases are old, in mode %s with an address that is %s', (mode, state) => {
    const run = { externalProbe: view(mode, state), dependents: held, settings };
    const { decision } = last([79_000, 82_000, 84_000], run);
    const inTrigger = state === 'unreachable' ? 'unhealthy' : 'skipped';
    expect(decision.verdict.kind).toBe(mode === 'trigger' ? inTrigger : 'healthy');
  });

  it.each(states)('is restored if its leases are fresh, although the address is %s', (state) => {
    const run = { externalProbe: view('trigger', state), dependents: held, settings };
    const { decision } = last([79_000, 82_000, 99_000], run);
    expect(decision.verdict).toEqual({ kind: 'healthy', scope: 'all' });
  });
});

describe('the next observation', () => {
  const fast = { ...bySingleLeases, probeIntervalMs: 60_000 };

  it.each([
    [trigger, 107_000],
    [view('trigger', 'unknown'), 121_000],
    [view('trigger', 'reachable'), 121_000],
    [view('confirm', 'unreachable'), 121_000],
    [undefined, 121_000],
  ])('with %o comes when the verdict could change: at %i', (externalProbe, at) => {
    const { decision } = last([88_000, 91_000, 92_000], { externalProbe, settings: fast, dependents: disturbed });
    expect(decision.nextRunAt).toBe(at);
    expect(decision.verdictMayTurnAt).toBe(externalProbe?.mode === 'trigger' ? 107_000 : undefined);
  });

  it('comes when the leases reach the threshold if held resources stay held until then', () => {
    const externalProbe = view('trigger', 'unknown');
    const { decision } = last([79_000, 82_000, 84_000], { externalProbe, settings: fast, dependents: held });
    expect(decision).toMatchObject({ verdict: { kind: 'skipped' }, nextRunAt: 112_000 });
  });

  it.each([
    [trigger, 106_000],
    [view('trigger', 'unknown'), 121_000],
  ])('after a lazy run with %o comes when some two leases are silent: at %i', (externalProbe, at) => {
    const { decision, isEager } = last([88_000, 91_000, 92_000], {
      externalProbe,
      settings: fast,
      dependents: undisturbed,
    });
    expect(isEager).toBe(false);
    expect(decision.nextRunAt).toBe(at);
    expect(decision.verdictMayTurnAt).toBe(106_000);
  });
});

describe('nodes and machines', () => {
  it.each([
    ['two leases are silent and the address is unreachable', [80_000, 82_000, 99_000], trigger, true],
    ['only one lease is silent', [80_000, 99_000, 99_000], trigger, false],
    ['the address is unknown', [80_000, 82_000, 84_000], view('trigger', 'unknown'), false],
    ['the mode is confirm', [80_000, 82_000, 84_000], view('confirm', 'unreachable'), false],
  ] as const)('(%s) are listed: %o %o %s', (_, renewedAt, externalProbe, isEager) => {
    expect(last(renewedAt, { externalProbe, dependents: undisturbed }).isEager).toBe(isEager);
  });
});

describe('the list of machines', () => {
  it.each([
    [trigger, true],
    [view('trigger', 'unknown'), false],
    [undefined, false],
  ])('is urgent if an unreachable address may be decisive: %o', (externalProbe, urgent) => {
    expect(last([80_000, 80_000, 99_000], { externalProbe, dependents: disturbed }).isUrgent).toBe(urgent);
  });
});

describe('the memory', () => {
  const memoryOf = (runs: readonly ProbeRun[]) => runProbes(emptyProbeMemory, runs).at(-1)!.decision.memory;
  const observation = (at: number, renewedAt: readonly number[]): ProbeRun => ({ at, leases: leasesOf(renewedAt) });

  it('keeps the instant of the last certain renewal: the observation before the one that shows the change', () => {
    expect(memoryOf([observation(60_000, [59_000])]).renewedSince).toBeUndefined();
    expect(memoryOf([observation(60_000, [59_000]), observation(70_000, [69_000])]).renewedSince).toBe(60_000);
    const quiet = [
      observation(60_000, [59_000, 59_000]),
      observation(70_000, [69_000, 59_000]),
      observation(80_000, [69_000, 59_000]),
    ];
    expect(memoryOf(quiet).renewedSince).toBe(60_000);
    expect(memoryOf([...quiet, observation(84_000, [69_000, 59_000])]).renewedSince).toBeUndefined();
    expect(memoryOf([...quiet, observation(84_000, [69_000, 83_000])]).renewedSince).toBe(80_000);
  });

  it('keeps first observations only of existing leases that were never seen renewed', () => {
    const { history } = memoryOf([
      observation(60_000, [59_000, 59_000, 59_000]),
      observation(70_000, [69_000, 59_000]),
    ]);
    expect([...history.neverSeenRenewed]).toEqual([['node-2', 60_000]]);
  });
});
