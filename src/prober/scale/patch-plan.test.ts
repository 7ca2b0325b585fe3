import { describe, expect, it } from 'vitest';
import type { ResourceState } from '../../kubernetes/api/scalable.ts';
import {
  meltdownProtectionAnnotation as active,
  ignoreScalingAnnotation as ignore,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import { heldAnnotation } from '../../annotations/held.ts';
import { dependent, deployment, etcd } from '../testing/resources.ts';
import { type Direction, type PatchPlan, isSettled, hasNothingToRestore, planPatch } from './patch-plan.ts';

const workload = dependent(deployment('kube-controller-manager'));
const custom = dependent(etcd('etcd-main'));

const state = (given: Partial<ResourceState> = {}): ResourceState => ({
  resourceVersion: '7',
  annotations: {},
  specReplicas: 3,
  readyReplicas: 3,
  observed: true,
  ...given,
});

/** Short form of a patch plan. */
const show = (move: PatchPlan): unknown => {
  switch (move.kind) {
    case 'settle':
      return 'settle';
    case 'done':
      return move.outcome;
    case 'write': {
      const { base: _, ...rest } = move.write;
      return { ...rest, scaling: move.scaling };
    }
  }
};

const bothMarks = { [active]: '', [replicas]: '3' };
const withoutMark = { [active]: null, [heldAnnotation]: null };
const withoutMarks = { ...withoutMark, [replicas]: null };

interface Row {
  readonly what: string;
  readonly state: Partial<ResourceState>;
  readonly workload: unknown;
  /** Expected plan for a kind that scales through its subresource. Absent: the same as `workload`. */
  readonly custom?: unknown;
}

const check = (direction: Direction, { what, state: given, ...rest }: Row) => {
  it(`${direction}: ${what}`, () => {
    const base = state(given);
    const plan = { direction, scope: 'all' } as const;
    expect(show(planPatch(workload, base, plan))).toEqual(rest.workload);
    const move = planPatch(custom, base, plan);
    expect(show(move)).toEqual(rest.custom ?? rest.workload);
    // Every write carries its base state.
    if (move.kind === 'write') expect(move.write.base).toBe(base);
  });
};

describe('down', () => {
  const store = (count: number) => ({ [replicas]: String(count), [active]: '' });
  const rows: readonly Row[] = [
    {
      what: 'a resource that is up',
      state: {},
      workload: { kind: 'object', annotations: store(3), replicas: 0, scaling: true },
      custom: { kind: 'object', annotations: store(3), scaling: true },
    },
    {
      what: 'one whose count is stored already',
      state: { annotations: bothMarks },
      workload: { kind: 'object', annotations: store(3), replicas: 0, undoes: 'unknown', scaling: true },
      custom: { kind: 'scale', replicas: 0, scaling: true },
    },
    {
      what: 'one whose count has changed since it was stored',
      state: { annotations: bothMarks, specReplicas: 5 },
      workload: { kind: 'object', annotations: store(5), replicas: 0, undoes: 'unknown', scaling: true },
      custom: { kind: 'object', annotations: store(5), undoes: 'unknown', scaling: true },
    },
    {
      what: 'one whose mark is gone, though its count is stored',
      state: { annotations: { [replicas]: '3' } },
      workload: { kind: 'object', annotations: store(3), replicas: 0, scaling: true },
      custom: { kind: 'object', annotations: store(3), scaling: true },
    },
    {
      what: 'one that is down: the stored count stays',
      state: { specReplicas: 0, annotations: bothMarks },
      workload: 'settle',
    },
    { what: 'one that another client scaled down', state: { specReplicas: 0 }, workload: 'settle' },
    {
      what: 'one at 0 with a mark and no count',
      state: { specReplicas: 0, annotations: { [active]: '' } },
      workload: 'settle',
    },
  ];
  for (const row of rows) check('down', row);
});

describe('up', () => {
  const restore = (count: number, extra: object = {}) => ({
    workload: { kind: 'object', annotations: withoutMarks, replicas: count, scaling: true, ...extra },
    custom: { kind: 'scale', replicas: count, scaling: true, ...extra },
  });
  const clean = { kind: 'object', annotations: withoutMarks, scaling: false };
  const rows: readonly Row[] = [
    { what: 'a resource that we hold', state: { specReplicas: 0, annotations: bothMarks }, ...restore(3) },
    { what: 'one at 0 without marks', state: { specReplicas: 0 }, ...restore(1, { undoes: 'unknown' }) },
    {
      what: 'one at 0 that was released',
      state: { specReplicas: 0, annotations: { [replicas]: '4' }, replicasManager: 'dependency-watchdog' },
      ...restore(4),
    },
    {
      what: 'one at 0 with a mark and no count',
      state: { specReplicas: 0, annotations: { [active]: '' } },
      ...restore(1),
    },
    ...['', '0', '-1', 'abc', '2147483648', ' 3', '1.0'].map((text) => ({
      what: `a count stored as ${JSON.stringify(text)} cannot be read`,
      state: { specReplicas: 0, annotations: { [active]: '', [replicas]: text } },
      ...restore(1, { unreadable: text }),
    })),
    {
      what: 'the greatest count',
      state: { specReplicas: 0, annotations: { [active]: '', [replicas]: '2147483647' } },
      ...restore(2_147_483_647),
    },
    { what: 'one that is up', state: {}, workload: 'settle' },
    { what: 'one that is up and not ready', state: { readyReplicas: 0 }, workload: 'settle' },
    { what: 'left-over marks', state: { annotations: bothMarks }, workload: clean },
    { what: 'a left-over count', state: { annotations: { [replicas]: '3' } }, workload: clean },
    { what: 'a left-over mark', state: { annotations: { [active]: '' } }, workload: clean },
    {
      what: 'an annotation that the Go program left behind',
      state: { annotations: { [heldAnnotation]: '{}' } },
      workload: clean,
    },
    {
      what: 'left-over marks with another count: the count stays',
      state: { annotations: bothMarks, specReplicas: 5 },
      workload: clean,
    },
  ];
  for (const row of rows) check('up', row);
});

describe('release', () => {
  const unmark = { kind: 'object', annotations: withoutMark, scaling: false };
  const rows: readonly Row[] = [
    {
      what: 'a resource that we hold: only the mark is removed',
      state: { specReplicas: 0, annotations: bothMarks },
      workload: unmark,
    },
    { what: 'one that is up, and marked', state: { annotations: bothMarks }, workload: unmark },
    {
      what: 'one that is not marked',
      state: { specReplicas: 0, annotations: { [replicas]: '3' } },
      workload: 'released',
    },
    { what: 'one that was never held', state: {}, workload: 'released' },
    {
      what: 'one with only the annotation held left',
      state: { annotations: { [heldAnnotation]: '{}' } },
      workload: unmark,
    },
    { what: 'one with ignore-scaling', state: { annotations: { ...bothMarks, [ignore]: 'true' } }, workload: unmark },
  ];
  for (const row of rows) check('release', row);
});

describe('ignore-scaling', () => {
  it('down by a standby: leaves the marks to the leader', () => {
    const base = state({ specReplicas: 0, annotations: { ...bothMarks, [ignore]: 'true' } });
    const plan = { direction: 'down', scope: 'all', withoutLead: 'the leader left it' } as const;
    expect(show(planPatch(workload, base, plan))).toBe('ignored');
  });

  const unmark = { kind: 'object', annotations: withoutMark, scaling: false };
  for (const direction of ['down', 'up'] as const) {
    for (const text of ['1', 't', 'T', 'TRUE', 'true', 'True']) {
      check(direction, {
        what: `${text} leaves it alone`,
        state: { annotations: { [ignore]: text } },
        workload: 'ignored',
      });
    }
    const rows: readonly Row[] = [
      {
        what: 'at 0',
        state: { specReplicas: 0, annotations: { [ignore]: '1', [replicas]: '3' } },
        workload: 'ignored',
      },
      { what: 'takes our mark away', state: { annotations: { [ignore]: 't', [active]: '' } }, workload: unmark },
      {
        what: 'takes our annotation held away',
        state: { annotations: { [ignore]: 't', [heldAnnotation]: '{}' } },
        workload: unmark,
      },
      {
        what: 'takes our mark away at 0',
        state: { specReplicas: 0, annotations: { [ignore]: 'T', ...bothMarks } },
        workload: unmark,
      },
    ];
    for (const row of rows) check(direction, row);
  }
  for (const text of ['', 'false', '0', 'yes', 'tRUE']) {
    check('up', {
      what: `not ${JSON.stringify(text)}`,
      state: { annotations: { [ignore]: text } },
      workload: 'settle',
    });
  }
});

describe('the scope held', () => {
  const held = { direction: 'up', scope: 'held' } as const;

  it.each([
    [{ specReplicas: 0 }, 'not-held'],
    [{}, 'settle'],
    [{ replicasManager: 'dependency-watchdog' }, 'settle'],
    [{ replicasManager: 'gardenlet' }, 'not-held'],
    [{ specReplicas: 0, annotations: { [replicas]: '3' } }, 'not-held'],
    [{ annotations: { [ignore]: 'true' } }, 'ignored'],
  ])('%j: %s', (given, expected) => {
    for (const resource of [workload, custom]) expect(show(planPatch(resource, state(given), held))).toBe(expected);
  });

  it('does not wait for a resource that is no longer configured', () => {
    const dropped = { ...workload, restoreOnly: true as const };
    expect(show(planPatch(dropped, state({}), held))).toBe('not-held');
  });

  it('restores held resources', () => {
    const base = state({ specReplicas: 0, annotations: bothMarks });
    expect(show(planPatch(workload, base, held))).toMatchObject({ replicas: 3 });
    expect(show(planPatch(custom, base, held))).toMatchObject({ kind: 'scale', replicas: 3 });
  });

  it('removes the annotation that the Go program left on a restored resource', () => {
    const expected = { kind: 'object', annotations: withoutMark, scaling: false };
    for (const given of [{}, { specReplicas: 0 }]) {
      const base = state({ ...given, annotations: { [heldAnnotation]: '{}' } });
      for (const resource of [workload, custom]) expect(show(planPatch(resource, base, held))).toEqual(expected);
    }
  });
});

describe('the annotation held', () => {
  const down = { direction: 'down', scope: 'all', heldValue: 'why' } as const;
  const marks = { [replicas]: '3', [active]: '', [heldAnnotation]: 'why' };

  it('is written in the request that scales down, or that marks a resource with a scale subresource', () => {
    expect(show(planPatch(workload, state(), down))).toMatchObject({ annotations: marks, replicas: 0 });
    const first = planPatch(custom, state(), down);
    expect(show(first)).toEqual({ kind: 'object', annotations: marks, scaling: true });
    expect(show(planPatch(custom, state({ annotations: marks }), down))).toMatchObject({ kind: 'scale', replicas: 0 });
  });

  it('is not added later to a resource that the Go program holds', () => {
    const held = state({ specReplicas: 0, annotations: bothMarks });
    expect(show(planPatch(workload, held, down))).toBe('settle');
  });
});

describe('a resource has reached its target', () => {
  it.each([
    ['down', { specReplicas: 0, readyReplicas: 0 }, true],
    ['down', { specReplicas: 0, readyReplicas: 1 }, false],
    ['down', { specReplicas: 0, readyReplicas: 0, observed: false }, false],
    ['down', { specReplicas: 1, readyReplicas: 0 }, false],
    ['up', { specReplicas: 3, readyReplicas: 1 }, true],
    ['up', { specReplicas: 3, readyReplicas: 0 }, false],
    ['up', { specReplicas: 3, readyReplicas: 3, observed: false }, false],
    ['up', { specReplicas: 0, readyReplicas: 3 }, false],
  ] as const)('%s %j: %s', (direction, given, expected) => {
    expect(isSettled(state(given), direction)).toBe(expected);
  });

  it('and is undisturbed if it is up, ready and without marks', () => {
    expect(hasNothingToRestore(state())).toBe(true);
    expect(hasNothingToRestore(state({ annotations: { [ignore]: 'true', other: 'x' } }))).toBe(true);
    const disturbed: Partial<ResourceState>[] = [
      { specReplicas: 0, readyReplicas: 0 },
      { readyReplicas: 0 },
      { observed: false },
      { annotations: { [active]: '' } },
      { annotations: { [replicas]: '3' } },
      { annotations: { [heldAnnotation]: '{}' } },
    ];
    for (const given of disturbed) expect(hasNothingToRestore(state(given))).toBe(false);
  });
});

describe('the writer whose count is overwritten', () => {
  const undone = (direction: Direction, given: Partial<ResourceState>): unknown => {
    const move = planPatch(workload, state(given), { direction, scope: 'all' });
    return move.kind === 'write' ? move.write.undoes : move.kind;
  };

  it.each([
    [
      'down',
      'has scaled up a resource that we hold',
      { annotations: bothMarks, replicasManager: 'kubectl-scale' },
      'kubectl-scale',
    ],
    ['down', 'is not named by the API server', { annotations: bothMarks }, 'unknown'],
    [
      'down',
      'has scaled a resource that is not held: an ordinary scale-down',
      { replicasManager: 'gardenlet' },
      undefined,
    ],
    [
      'up',
      'has scaled a resource that is not held to 0',
      { specReplicas: 0, replicasManager: 'kubectl-edit' },
      'kubectl-edit',
    ],
    ['up', 'is us, in an earlier process', { specReplicas: 0, replicasManager: 'dependency-watchdog' }, undefined],
    [
      'up',
      'has not changed a resource that we hold',
      { specReplicas: 0, annotations: bothMarks, replicasManager: 'a' },
      undefined,
    ],
  ] satisfies readonly [Direction, string, Partial<ResourceState>, string | undefined][])(
    '%s: %s',
    (direction, _, given, manager) => {
      expect(undone(direction, given)).toBe(manager);
    },
  );
});
