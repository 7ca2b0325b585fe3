import { describe, expect, it } from 'vitest';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import {
  ignoreScalingAnnotation as ignore,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import {
  dependent,
  downVerdict,
  instant,
  once,
  markAt,
  patchAt,
  readAt,
  requestsIn,
  scaleAt,
  upVerdict,
} from '../testing/cases.ts';
import { fates, isHeld, kcm, main, run } from '../testing/play-scaling.ts';
import { SeedHarness } from '../testing/seed-harness.ts';
import { deployment, objectOf, stateOf } from '../testing/seed-model.ts';
import { idleOperation, latestState } from './operation.ts';

describe('initialDelay', () => {
  it('delays a resource that needs scaling', () => {
    const resources = [dependent(kcm, { up: { initialDelayMs: 5_000 }, down: { initialDelayMs: 2_000 } })];
    const up = run({ resources, objects: [objectOf(kcm, isHeld)], verdictAt: once(upVerdict) });
    expect(up.sent).toEqual([patchAt(5_100, 'kcm', 3)]);
    const down = run({ resources, objects: [objectOf(kcm, { replicas: 3 })], verdictAt: once(downVerdict) });
    expect(down.sent).toEqual([patchAt(2_100, 'kcm', 0)]);
  });

  it('does not delay a resource that is up, or only has leftover marks', () => {
    const resources = [dependent(kcm, { up: { initialDelayMs: 5_000 } })];
    expect(run({ resources, objects: [objectOf(kcm)], verdictAt: once(upVerdict) }).ends).toEqual([]);
    const marked = objectOf(kcm, { annotations: isHeld.annotations, replicas: 3 });
    expect(run({ resources, objects: [marked], verdictAt: once(upVerdict) }).sent).toEqual([markAt(100, 'kcm')]);
  });

  it('is waited for only once, even after retries', () => {
    const resources = [dependent(kcm, { up: { initialDelayMs: 5_000 } })];
    const fateOf = fates({ interference: {} }, {}, { error: 'ServerError' });
    const { sent, ends } = run({ resources, objects: [objectOf(kcm, isHeld)], verdictAt: once(upVerdict), fateOf });
    expect(sent).toEqual([
      patchAt(5_100, 'kcm', 3),
      readAt(5_220, 'kcm'),
      patchAt(5_240, 'kcm', 3),
      readAt(5_360, 'kcm'),
      patchAt(5_380, 'kcm', 3),
    ]);
    expect(ends).toEqual(['completed']);
  });

  it('is followed by a patch for the current state of the resource', () => {
    const resources = [dependent(kcm, { up: { initialDelayMs: 5_000 } })];
    const harness = new SeedHarness({ resources, objects: [objectOf(kcm, isHeld)], verdictAt: once(upVerdict) });
    harness.at(3_000, () => harness.model.edit(refKey(kcm), { replicas: 4 }));
    harness.runUntil(60_000);
    expect(requestsIn(harness.log)).toEqual([markAt(5_100, 'kcm')]);
    expect(harness.model.get(refKey(kcm))).toMatchObject({ replicas: 4, annotations: {} });
  });

  it('does not shorten the timeout', () => {
    const resources = [dependent(kcm, { up: { initialDelayMs: 60_000, timeoutMs: 10_000 } })];
    const slow = { resources, objects: [objectOf(kcm, isHeld)], verdictAt: () => upVerdict, followMs: 9_000 };
    expect(run(slow).ends).toEqual(['completed']);
    expect(run({ ...slow, followMs: 11_000 }).end).toMatchObject({ end: 'failed', at: 70_100 });
  });
});

describe('a missing resource', () => {
  const not = { kind: 'not-served', problem: 'Etcd is not served' } as const;
  const served = { kind: 'served', resource: 'deployments' } as const;

  it.each([
    { what: 'missing', direction: 'up', optional: false, ends: [] },
    { what: 'missing', direction: 'up', optional: true, ends: [] },
    { what: 'missing', direction: 'down', optional: false, ends: ['failed'] },
    { what: 'missing', direction: 'down', optional: true, ends: [] },
    { what: 'not served', direction: 'up', optional: false, ends: [] },
    { what: 'not served', direction: 'up', optional: true, ends: [] },
    { what: 'not served', direction: 'down', optional: false, ends: ['failed'] },
  ])('$what, $direction, optional $optional: $ends', ({ what, direction, optional, ends }) => {
    const verdictAt = once(direction === 'up' ? upVerdict : downVerdict);
    const resources = [dependent(main, { optional })];
    const result = run({ resources, objects: [], verdictAt, served: () => (what === 'missing' ? served : not) });
    expect(result.ends).toEqual(ends);
    expect(result.sent).toEqual([]);
  });

  it.each([
    { what: 'missing', main: served },
    { what: 'not served', main: not },
  ])('never keeps others at 0: required and $what, on a lower level', (given) => {
    const mcm = deployment('mcm');
    const { ends, object } = run({
      resources: [dependent(main), dependent(mcm, { up: { level: 1 } })],
      objects: [objectOf(mcm, isHeld)],
      verdictAt: once(upVerdict),
      served: (key) => (key === refKey(main) ? given.main : served),
    });
    expect(ends).toEqual(['completed']);
    expect(object(mcm)).toEqual({ annotations: {}, replicas: 3 });
  });

  it('is found by a read if no watch covers it', () => {
    for (const optional of [true, false]) {
      const resources = [dependent(kcm, { optional })];
      const { sent, ends } = run({ resources, objects: [], verdictAt: once(downVerdict), synced: false });
      expect(sent).toEqual([readAt(100, 'kcm')]);
      expect(ends).toEqual([optional ? 'completed' : 'failed']);
    }
  });

  it('that was deleted is noticed while its pods are awaited', () => {
    for (const optional of [true, false]) {
      const resources = [dependent(kcm, { optional })];
      const objects = [objectOf(kcm, { replicas: 3 })];
      const harness = new SeedHarness({ resources, objects, verdictAt: once(downVerdict), followMs: 60_000 });
      harness.at(5_000, () => harness.model.edit(refKey(kcm), undefined));
      harness.runUntil(100_000);
      expect(harness.ends[0]).toMatchObject({ end: optional ? 'completed' : 'failed' });
      expect(harness.ends[0]?.at).toBeLessThan(7_000);
    }
  });
});

describe('ignore-scaling', () => {
  it('makes a scaling only remove our mark, even if it appears meanwhile', () => {
    const resources = [dependent(kcm, { up: { initialDelayMs: 5_000 } })];
    const harness = new SeedHarness({ resources, objects: [objectOf(kcm, isHeld)], verdictAt: once(upVerdict) });
    harness.at(3_000, () => harness.model.edit(refKey(kcm), { annotations: { ...isHeld.annotations, [ignore]: 'T' } }));
    harness.runUntil(60_000);
    expect(requestsIn(harness.log)).toEqual([markAt(5_100, 'kcm')]);
    expect(harness.model.get(refKey(kcm))).toMatchObject({
      replicas: 0,
      annotations: { [ignore]: 'T', [replicas]: '3' },
    });
  });
});

describe('one resource is finished', () => {
  it.each([
    { what: 'ready', ready: 1, observedGeneration: 5, ends: ['completed'] },
    { what: 'not ready', ready: 0, observedGeneration: 5, ends: ['failed'] },
    { what: 'not observed', ready: 3, observedGeneration: 4, ends: ['failed'] },
  ])('up: $what', ({ ready, observedGeneration, ends }) => {
    // A second resource is held, so that a scaling starts at all.
    const resources = [dependent(kcm), dependent(deployment('mcm'), { up: { level: 1 } })];
    const objects = [
      objectOf(kcm, { replicas: 3, ready, generation: 5, observedGeneration }),
      objectOf(deployment('mcm'), isHeld),
    ];
    const followMs = ends[0] === 'completed' ? 1_000 : 60_000;
    const result = run({ resources, objects, verdictAt: once(upVerdict), followMs });
    expect(result.ends).toEqual(ends);
    expect(result.sent).toEqual(ends[0] === 'completed' ? [patchAt(100, 'mcm', 3)] : []);
    if (ends[0] === 'failed') expect(result.end?.at).toBe(30_100);
  });

  it.each([
    { what: 'no pods left', ready: 0, next: 100 },
    { what: 'a ready pod left', ready: 1, next: 3_100 },
  ])('down: $what', ({ ready, next }) => {
    const resources = [dependent(kcm), dependent(deployment('mcm'), { down: { level: 1 } })];
    const objects = [objectOf(kcm, { replicas: 0, ready }), objectOf(deployment('mcm'), { replicas: 1 })];
    const { sent } = run({ resources, objects, verdictAt: once(downVerdict), followMs: 60_000 });
    expect(sent).toEqual([patchAt(next, 'mcm', 0)]);
  });

  it('within its timeout at most', () => {
    const resources = [dependent(kcm, { up: { timeoutMs: 4_000 }, down: { timeoutMs: 7_000 } })];
    const up = run({ resources, objects: [objectOf(kcm, isHeld)], verdictAt: once(upVerdict), followMs: 60_000 });
    expect(up.end).toEqual({ at: 4_100, direction: 'up', end: 'failed' });
    const objects = [objectOf(kcm, { replicas: 3 })];
    const down = run({ resources, objects, verdictAt: once(downVerdict), followMs: 60_000 });
    expect(down.end).toEqual({ at: 7_100, direction: 'down', end: 'failed' });
  });

  it('by reads if no watch shows it', () => {
    const resources = [dependent(kcm)];
    const objects = [objectOf(kcm, isHeld)];
    const result = run({ resources, objects, verdictAt: once(upVerdict), synced: false, followMs: 2_500 });
    expect(result.sent.filter(({ kind }) => kind === 'read').length).toBeLessThanOrEqual(5);
    expect(result.ends).toEqual(['completed']);
    expect(result.end?.at).toBeLessThan(4_000);
  });

  it('for a custom resource only when its controller has observed the new count', () => {
    // Two old pods still exist, which do not belong to the new count.
    const resources = [dependent(main), dependent(kcm, { up: { level: 1 } })];
    const objects = [objectOf(main, { ...isHeld, ready: 2 }), objectOf(kcm, isHeld)];
    const result = run({ resources, objects, verdictAt: once(upVerdict), followMs: 8_000 });
    const write = result.sent.find(({ name, kind }) => name === 'kcm' && kind === 'patch');
    expect(write?.at).toBeGreaterThan(8_000);
  });
});

describe('an awaited change', () => {
  it('of a custom resource is polled if its status does not show it', () => {
    // There are no pods before and after, and no observedGeneration: the watch will show no change.
    const objects = [objectOf(main, { replicas: 3, ready: 0, observedGeneration: undefined })];
    const { ends, end } = run({
      resources: [dependent(main)],
      objects,
      verdictAt: once(downVerdict),
      followMs: Infinity,
    });
    expect(ends).toEqual(['completed']);
    expect(end?.at).toBeLessThan(2_000);
  });

  it('of a custom resource is read whenever its watch shows a new version', () => {
    const resources = [dependent(main)];
    const harness = new SeedHarness({
      resources,
      objects: [objectOf(main, isHeld)],
      verdictAt: once(upVerdict),
      followMs: Infinity,
    });
    const key = refKey(main);
    harness.at(500, () => harness.model.edit(key, { observedGeneration: 2 }));
    harness.at(10_000, () => harness.model.edit(key, { ready: 1 }));
    harness.runUntil(60_000);
    expect(harness.ends).toEqual([{ at: 10_070, direction: 'up', end: 'completed' }]);
    expect(requestsIn(harness.log).filter(({ kind }) => kind === 'read').length).toBeLessThanOrEqual(4);
  });

  it('is judged by the latest known state, from the watch or from the API server', () => {
    const state = (version: number) => ({ kind: 'state', state: stateOf(objectOf(kcm, { version })) }) as const;
    const operation = idleOperation(dependent(kcm), {
      key: 'x',
      info: instant,
      ifMissing: 'failed',
      awaitsFormer: false,
      mustRead: false,
    });
    const lastResponse = { ...operation, lastResponse: state(5).state };
    expect(latestState(operation, { kind: 'unknown' })).toBeUndefined();
    expect(latestState(operation, state(4))?.resourceVersion).toBe('4');
    expect([4, 5, 6].map((version) => latestState(lastResponse, state(version))?.resourceVersion)).toEqual([
      '5',
      '5',
      '6',
    ]);
    for (const kind of ['unknown', 'absent'] as const) {
      expect(latestState(lastResponse, { kind })).toBe(lastResponse.lastResponse);
    }
  });
});

describe('custom kinds', () => {
  it('are annotated, then scaled down; they are scaled up, then their annotations are removed', () => {
    const resources = [dependent(main)];
    const down = run({ resources, objects: [objectOf(main, { replicas: 3 })], verdictAt: once(downVerdict) });
    expect(down.sent.slice(0, 3)).toEqual([readAt(100, 'main'), markAt(120, 'main'), scaleAt(140, 'main', 0)]);
    expect(down.ends).toEqual(['completed']);
    const up = run({ resources, objects: [objectOf(main, isHeld)], verdictAt: once(upVerdict) });
    expect(up.sent.slice(0, 3)).toEqual([readAt(100, 'main'), scaleAt(120, 'main', 3), markAt(140, 'main')]);
    expect(up.ends).toEqual(['completed']);
    expect(up.object(main)).toEqual({ replicas: 3, annotations: {} });
  });
});
