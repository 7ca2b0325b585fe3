import { describe, expect, it } from 'vitest';
import {
  meltdownProtectionAnnotation as active,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { Verdict } from '../judge/judgement.ts';
import type { DependentResource } from '../config/settings.ts';
import type { Role } from './desired.ts';
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
});

describe('a pause that begins during a scale-down', () => {
  const objects = [up(a), up(b)];

  it('ends it: nothing more is sent', () => {
    const resources = [at(a, 0, { initialDelayMs: 0 }), at(b, 1, { initialDelayMs: 5_000 })];
    const pausedUntil = (now: number) => (now >= 3_200 ? Number.POSITIVE_INFINITY : undefined);
    const harness = new SeedHarness({ resources, objects, verdictAt: () => downVerdict, pausedUntil });
    harness.runUntil(60_000);
    expect(requestsIn(harness.log)).toEqual([patchAt(100, 'a', 0)]);
    expect(harness.ends).toMatchObject([{ direction: 'down', end: 'dropped' }]);
  });

  it('and ends before the next verdict lets the next run decide at once', () => {
    const resources = [at(a, 0), at(b, 1, { initialDelayMs: 5_000 })];
    const pausedUntil = (now: number) => (now >= 1_110 && now < 4_000 ? 4_000 : undefined);
    const harness = new SeedHarness({ resources, objects, verdictAt: () => downVerdict, pausedUntil });
    harness.runUntil(9_500);
    expect(requestsIn(harness.log)).toEqual([patchAt(100, 'a', 0), patchAt(9_100, 'b', 0)]);
    expect(harness.ends[0]).toMatchObject({ direction: 'down', end: 'dropped' });
    expect(harness.starts).toEqual([100, 4_100]);
  });
});

describe('the end of a pause in an outage', () => {
  const objects = [up(a), up(b)];

  it('is followed by a run at once', () => {
    const { log } = run({ objects, verdictAt: () => downVerdict, pausedUntil: () => 36_000 }, 40_000);
    expect(requestsIn(log)[0]).toEqual(patchAt(36_100, 'a', 0));
    expect(requestsIn(log)).toHaveLength(2);
  });

  it('does nothing if the outage is over, or landing', () => {
    const landing: Verdict = { kind: 'landing', renewed: 1, awaited: 2, late: [], latest: 200_000 };
    for (const last of [upVerdict, landing]) {
      const verdictAt = (now: number) => (now < 20_000 ? downVerdict : last);
      const { log } = run({ objects, verdictAt, pausedUntil: () => 33_333 });
      expect(requestsIn(log).filter(({ replicas: count }) => count === 0)).toEqual([]);
    }
  });

  it('gives the leader its time before a standby acts', () => {
    const standby: Role = { leads: false, mayStandIn: true };
    const given = { objects, verdictAt: (): Verdict => downVerdict, role: () => standby };
    expect(requestsIn(run(given, 60_000).log)[0]).toEqual(patchAt(3_000, 'a', 0));
    const [first] = requestsIn(run({ ...given, pausedUntil: () => 33_333 }, 60_000).log);
    expect(first).toEqual(patchAt(36_433, 'a', 0));
  });
});
