import { describe, expect, it } from 'vitest';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import {
  meltdownProtectionAnnotation as active,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import type { DependentResource } from '../config/settings.ts';
import {
  type RequestFate,
  type LogEntry,
  dependent,
  downVerdict,
  failedVerdict,
  once,
  markAt,
  patchAt,
  readAt,
  requestsIn,
} from '../testing/cases.ts';
import { type HarnessOptions, SeedHarness } from '../testing/seed-harness.ts';
import { deployment, etcd, objectOf } from '../testing/seed-model.ts';

const [a, b] = [deployment('a'), deployment('b')];
const isHeld = { annotations: { [active]: '', [replicas]: '3' }, replicas: 0 };
const held = (ref: typeof a) => objectOf(ref, isHeld);
const up = (ref: typeof a) => objectOf(ref, { replicas: 3 });
const at = (ref: typeof a, level: number, info: Partial<DependentResource['scaleUp']> = {}): DependentResource =>
  dependent(ref, { up: { level, ...info }, down: { level, ...info } });

describe('release policies', () => {
  const resources = [at(a, 0), at(b, 1, { initialDelayMs: 5_000 })];
  const quiet = { resources, verdictAt: once(failedVerdict) };

  const stop = (
    options: HarnessOptions,
    releasePolicy: 'restore' | 'release' | 'nothing',
    when = 1_000,
  ): SeedHarness => {
    const harness = new SeedHarness(options);
    harness.at(when, () => harness.stop(releasePolicy));
    harness.runUntil(100_000);
    return harness;
  };

  it('restore: scales up held resources, in order, and no others', () => {
    const harness = stop({ ...quiet, objects: [held(a), held(b)] }, 'restore');
    expect(requestsIn(harness.log)).toEqual([patchAt(1_000, 'a', 3), patchAt(7_060, 'b', 3)]);
    expect(harness.state().ended).toBe(true);
    const others = stop({ ...quiet, objects: [objectOf(a, { replicas: 0 }), held(b)] }, 'restore');
    expect(requestsIn(others.log)).toEqual([patchAt(6_000, 'b', 3)]);
    expect(others.model.get(refKey(a))?.replicas).toBe(0);
  });

  it('release: removes the mark and leaves the counts', () => {
    const harness = stop({ ...quiet, objects: [held(a), held(b)] }, 'release');
    expect(requestsIn(harness.log)).toEqual([markAt(1_000, 'a'), markAt(1_000, 'b')]);
    expect(harness.state().ended).toBe(true);
    for (const ref of [a, b]) {
      expect(harness.model.get(refKey(ref))).toMatchObject({ replicas: 0, annotations: { [replicas]: '3' } });
    }
  });

  it.each(['restore', 'release', 'nothing'] as const)('%s: ends at once if nothing is held', (releasePolicy) => {
    const harness = stop({ ...quiet, objects: [up(a), objectOf(b, { replicas: 0 })] }, releasePolicy);
    expect(harness.log).toEqual([]);
    expect(harness.state().ended).toBe(true);
  });

  it('release: stops a restoration in progress, as when the shoot has been hibernated meanwhile', () => {
    const harness = new SeedHarness({ ...quiet, objects: [held(a), held(b)] });
    harness.at(1_000, () => harness.stop('restore'));
    harness.at(3_000, () => harness.stop('release'));
    harness.runUntil(100_000);
    expect(requestsIn(harness.log)).toEqual([patchAt(1_000, 'a', 3), markAt(3_000, 'b')]);
    expect(harness.state().ended).toBe(true);
    expect(harness.model.get(refKey(b))).toMatchObject({ replicas: 0, annotations: { [replicas]: '3' } });
  });

  it('restore: does not restart after a release has begun', () => {
    const harness = new SeedHarness({ ...quiet, objects: [held(a), held(b)] });
    harness.at(1_000, () => harness.stop('release'));
    harness.at(1_010, () => harness.stop('restore'));
    harness.runUntil(100_000);
    expect(requestsIn(harness.log)).toEqual([markAt(1_000, 'a'), markAt(1_000, 'b')]);
  });

  it('nothing: leaves everything as it is', () => {
    const harness = stop({ ...quiet, objects: [held(a), held(b)] }, 'nothing');
    expect([harness.log, harness.state().ended]).toEqual([[], true]);
  });

  it.each(['restore', 'release'] as const)('%s: ignores missing resources', (releasePolicy) => {
    const harness = stop({ ...quiet, objects: [held(b)], synced: false }, releasePolicy);
    expect(harness.state().ended).toBe(true);
    expect(harness.model.get(refKey(b))?.annotations).not.toHaveProperty(active);
  });

  it.each(['restore', 'release'] as const)(
    '%s: ends the scaling in progress, and reads what it has in flight',
    (releasePolicy) => {
      const fateOf = (index: number): RequestFate => ({ latencyMs: index === 0 ? 3_000 : 20 });
      const options = { resources, objects: [up(a), up(b)], verdictAt: once(downVerdict), fateOf, watchLagMs: 60_000 };
      const harness = stop(options, releasePolicy);
      expect(harness.ends[0]).toEqual({ at: 1_000, direction: 'down', end: 'dropped' });
      const sent = requestsIn(harness.log);
      expect(sent.slice(0, 2)).toEqual([patchAt(100, 'a', 0), readAt(3_100, 'a')]);
      expect(sent.filter(({ name, kind }) => name === 'b' && kind !== 'read')).toEqual([]);
      expect(harness.state().ended).toBe(true);
      expect(harness.model.get(refKey(a))?.replicas).toBe(releasePolicy === 'restore' ? 3 : 0);
      expect(harness.model.get(refKey(a))?.annotations).not.toHaveProperty(active);
    },
  );

  it('nothing: awaits the write in flight', () => {
    const fateOf = (index: number): RequestFate => ({ latencyMs: index === 0 ? 3_000 : 20 });
    const harness = new SeedHarness({ resources, objects: [up(a), up(b)], verdictAt: once(downVerdict), fateOf });
    harness.at(1_000, () => harness.stop('nothing'));
    harness.runUntil(3_099);
    expect(harness.state().ended).toBeUndefined();
    harness.runUntil(60_000);
    expect(harness.state().ended).toBe(true);
    expect(requestsIn(harness.log)).toEqual([patchAt(100, 'a', 0)]);
  });

  it('report a failure', () => {
    const fateOf = (): RequestFate => ({ latencyMs: 20, error: 'Forbidden' });
    expect(stop({ ...quiet, objects: [held(a), held(b)], fateOf }, 'release').ends).toMatchObject([{ end: 'failed' }]);
    expect(stop({ ...quiet, objects: [held(a), held(b)], fateOf }, 'restore').ends).toMatchObject([{ end: 'failed' }]);
  });

  it('start no more probes and ignore verdicts', () => {
    const slow = { ...quiet, verdictAt: () => downVerdict, runMs: 3_000, objects: [held(a), held(b)] };
    const harness = stop(slow, 'restore');
    expect(requestsIn(harness.log)).toEqual([patchAt(1_000, 'a', 3), patchAt(7_060, 'b', 3)]);
    expect(harness.now()).toBe(100_000);
  });

  it('do not restart with another policy after they have begun, and end with nothing', () => {
    const fateOf = (_: number, entry: LogEntry): RequestFate => ({
      latencyMs: entry.action.key === refKey(a) ? 5_000 : 20,
    });
    const again = new SeedHarness({ ...quiet, objects: [held(a), held(b)], fateOf });
    again.at(1_000, () => again.stop('release'));
    again.at(2_000, () => again.stop('restore'));
    again.runUntil(60_000);
    expect(requestsIn(again.log)).toEqual([markAt(1_000, 'a'), markAt(1_000, 'b')]);
    expect(again.state().ended).toBe(true);
    const stopped = new SeedHarness({ ...quiet, objects: [held(a), held(b)], fateOf });
    stopped.at(1_000, () => stopped.stop('restore'));
    stopped.at(2_000, () => stopped.stop('nothing'));
    stopped.runUntil(60_000);
    expect(requestsIn(stopped.log)).toEqual([patchAt(1_000, 'a', 3)]);
    expect(stopped.state().ended).toBeDefined();
  });

  it('complete a custom resource that a crash left half-way', () => {
    const main = etcd('main');
    const objects = [objectOf(main, { replicas: 3, annotations: isHeld.annotations })];
    for (const releasePolicy of ['restore', 'release'] as const) {
      const harness = stop({ resources: [dependent(main)], verdictAt: once(failedVerdict), objects }, releasePolicy);
      expect(harness.state().ended).toBe(true);
      expect(harness.model.get(refKey(main))?.annotations).not.toHaveProperty(active);
      expect(harness.model.get(refKey(main))?.replicas).toBe(3);
    }
  });
});
