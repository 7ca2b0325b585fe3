import { describe, expect, it } from 'vitest';
import {
  meltdownProtectionAnnotation as active,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { Verdict } from '../judge/verdict.ts';
import type { DependentResource } from '../settings.ts';
import { dependent, downVerdict, patchAt, requestsIn, upVerdict } from '../testing/cases.ts';
import { type HarnessOptions, SeedHarness } from '../testing/seed-harness.ts';
import { deployment, objectOf } from '../testing/seed-model.ts';

const [a, b] = [deployment('a'), deployment('b')];
const held = (ref: typeof a) => objectOf(ref, { annotations: { [active]: '', [replicas]: '3' }, replicas: 0 });
const up = (ref: typeof a) => objectOf(ref, { replicas: 3 });
const at = (ref: typeof a, level: number, info: Partial<DependentResource['scaleUp']> = {}): DependentResource =>
  dependent(ref, { up: { level, ...info }, down: { level, ...info } });

const run = (options: Omit<HarnessOptions, 'resources'> & Partial<HarnessOptions>, until = 100_000): SeedHarness => {
  const harness = new SeedHarness({ resources: [at(a, 0), at(b, 1)], ...options });
  harness.runUntil(until);
  return harness;
};
const forever = () => Number.POSITIVE_INFINITY;

describe('during a pause', () => {
  it('nothing is scaled down, and runs go on', () => {
    const runs: number[] = [];
    const verdictAt = (now: number): Verdict => {
      runs.push(now);
      return downVerdict;
    };
    const { log, starts } = run({ objects: [up(a), up(b)], verdictAt, pausedUntil: forever });
    expect([log, starts]).toEqual([[], []]);
    expect(runs.length).toBeGreaterThanOrEqual(9);
  });

  it('held resources are restored as usual', () => {
    const { log, model } = run({ objects: [held(a), held(b)], verdictAt: () => upVerdict, pausedUntil: forever });
    expect(requestsIn(log)).toMatchObject([
      { name: 'a', replicas: 3 },
      { name: 'b', replicas: 3 },
    ]);
    expect(model.get(refKey(b))).toMatchObject({ replicas: 3, annotations: {} });
  });

  it('a standby does not check the leader every 500 ms', () => {
    const role = { leads: false, isHotStandby: true, leaderSilentMs: 1_000, silenceLimitMs: 5_000 };
    const steps = { count: 0 };
    const check = (): void => void (steps.count += 1);
    run({ objects: [up(a), up(b)], verdictAt: () => downVerdict, role: () => role, pausedUntil: forever, check });
    expect(steps.count).toBeLessThan(100);
  });
});

describe('a pause that begins during a scale-down', () => {
  const objects = [up(a), up(b)];

  it('cancels the scale-down, which awaits its requests in flight and sends no more', () => {
    const resources = [at(a, 0, { initialDelayMs: 0 }), at(b, 1, { initialDelayMs: 5_000 })];
    const pausedUntil = (now: number) => (now >= 3_200 ? Number.POSITIVE_INFINITY : undefined);
    const harness = new SeedHarness({ resources, objects, verdictAt: () => downVerdict, pausedUntil });
    harness.runUntil(60_000);
    expect(requestsIn(harness.log)).toEqual([patchAt(100, 'a', 0)]);
    expect(harness.ends).toMatchObject([{ flow: 1, end: 'cancelled' }]);
  });

  it('and ends before the next verdict lets the scale-down continue at once', () => {
    const resources = [at(a, 0), at(b, 1, { initialDelayMs: 5_000 })];
    const pausedUntil = (now: number) => (now >= 1_110 && now < 4_000 ? 4_000 : undefined);
    const harness = new SeedHarness({ resources, objects, verdictAt: () => downVerdict, pausedUntil });
    harness.runUntil(9_500);
    expect(requestsIn(harness.log)).toEqual([patchAt(100, 'a', 0), patchAt(9_000, 'b', 0)]);
    expect(harness.ends[0]).toMatchObject({ flow: 1, end: 'cancelled' });
    expect(harness.starts).toEqual([1, 2]);
  });
});

describe('the end of a pause in an outage', () => {
  const objects = [up(a), up(b)];

  it('starts the scale-down at once, without waiting for the next run', () => {
    const { log } = run({ objects, verdictAt: () => downVerdict, pausedUntil: () => 33_333 }, 40_000);
    expect(requestsIn(log)[0]).toEqual(patchAt(33_333, 'a', 0));
    expect(requestsIn(log)).toHaveLength(2);
  });

  it('does nothing if the outage is over, landing, or no longer known', () => {
    const landing: Verdict = { kind: 'landing', renewed: 1, awaited: 2, until: 200_000 };
    for (const last of [upVerdict, landing, undefined]) {
      const verdictAt = (now: number) => (now < 20_000 ? downVerdict : last);
      const { log } = run({ objects, verdictAt, pausedUntil: () => 33_333 });
      expect(requestsIn(log).filter(({ replicas: count }) => count === 0)).toEqual([]);
    }
  });

  it('leaves an old verdict to the next run, as after a suspension', () => {
    const verdictAt = (now: number): Verdict | undefined => (now < 5_000 ? downVerdict : upVerdict);
    const options = { objects, verdictAt, pausedUntil: () => 33_333, runMs: 100, probeIntervalMs: 60_000 };
    expect(requestsIn(run({ ...options, probeIntervalMs: 10_000, pausedUntil: () => 50_000 }).log)).toEqual([]);
    expect(requestsIn(run(options, 40_000).log)[0]).toEqual(patchAt(33_333, 'a', 0));
  });

  it('lets a standby act in place of a silent leader', () => {
    const silent = { leads: false, isHotStandby: true, leaderSilentMs: 60_000, silenceLimitMs: 5_000 };
    const given = { objects, verdictAt: (): Verdict => downVerdict, role: () => silent };
    expect(requestsIn(run(given, 40_000).log)[0]).toEqual(patchAt(100, 'a', 0));
    expect(requestsIn(run({ ...given, pausedUntil: () => 33_333 }, 40_000).log)[0]).toEqual(patchAt(33_333, 'a', 0));
  });

  it('gives a leader that renews its time before a standby acts, which needs a fresh verdict of its own', () => {
    const renewing = { leads: false, isHotStandby: true, leaderSilentMs: 1_000, silenceLimitMs: 5_000 };
    const given = { objects, verdictAt: (): Verdict => downVerdict, role: () => renewing };
    const [first] = requestsIn(run({ ...given, pausedUntil: () => 33_333 }, 60_000).log);
    expect(first?.at).toBeGreaterThanOrEqual(36_333);
    const verdictAt = (now: number): Verdict | undefined => (now < 33_000 ? downVerdict : undefined);
    expect(requestsIn(run({ ...given, verdictAt, pausedUntil: () => 33_333 }, 60_000).log)).toEqual([]);
  });
});
