import { describe, expect, it } from 'vitest';
import type { ResourceState } from '../../kubernetes/api/scalable.ts';
import {
  meltdownProtectionAnnotation as active,
  ignoreScalingAnnotation as ignore,
  replicasAnnotation as replicas,
} from '../../annotations/scaling-annotations.ts';
import { heldAnnotation } from '../../annotations/held.ts';
import { dependent, deployment, etcd } from '../testing/resources.ts';
import { type PatchInput, type PatchPlan, isSettled, planPatch } from './patch-plan.ts';

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

/** Short form of a patch plan. Every write carries its base state. */
const show = (plan: PatchPlan, from: ResourceState): unknown => {
  if (plan.kind === 'settle') return 'settle';
  if (plan.kind === 'done') return plan.outcome;
  const { base, ...rest } = plan.write;
  expect(base).toBe(from);
  return { ...rest, scaling: plan.scaling };
};

const bothMarks = { [active]: '', [replicas]: '3' };
const heldMark = { [heldAnnotation]: '{}' };
const withoutMark = { [active]: null, [heldAnnotation]: null };
const withoutMarks = { ...withoutMark, [replicas]: null };
const by = (replicasManager: string): Partial<ResourceState> => ({ replicasManager });

interface Plans {
  readonly workload: unknown;
  /** Expected plan for a kind that scales through its subresource. Absent: the same as `workload`. */
  readonly custom?: unknown;
}

const settle: Plans = { workload: 'settle' };
const unmark: Plans = { workload: { kind: 'object', annotations: withoutMark, scaling: false } };
const clean: Plans = { workload: { kind: 'object', annotations: withoutMarks, scaling: false } };
const hold = (count: number, extra: object = {}, marks: object = {}): Plans => {
  const annotations = { [replicas]: String(count), [active]: '', ...marks };
  const plan = { kind: 'object', annotations, scaling: true, ...extra };
  return { workload: { ...plan, replicas: 0 }, custom: plan };
};
const toZero = { kind: 'scale', replicas: 0, scaling: true };
const restore = (count: number, extra: object = {}): Plans => ({
  workload: { kind: 'object', annotations: withoutMarks, replicas: count, scaling: true, ...extra },
  custom: { kind: 'scale', replicas: count, scaling: true, ...extra },
});

type Row = readonly [what: string, state: Partial<ResourceState>, plans: Plans];

const table = (title: string, plan: PatchInput, rows: readonly Row[]): void => {
  it.each(rows)(`${title}: %s`, (_, given, plans) => {
    const base = state(given);
    expect(show(planPatch(workload, base, plan), base)).toEqual(plans.workload);
    expect(show(planPatch(custom, base, plan), base)).toEqual(plans.custom ?? plans.workload);
  });
};

const down: PatchInput = { direction: 'down', scope: 'all' };
const up: PatchInput = { direction: 'up', scope: 'all' };
const none = { specReplicas: 0 };

table('down', down, [
  ['a resource that is up, whoever scaled it', by('gardenlet'), hold(3)],
  [
    'one whose count is stored already, and which another writer has scaled up',
    { annotations: bothMarks },
    { ...hold(3, { undoes: 'unknown' }), custom: toZero },
  ],
  [
    'the same with another count',
    { annotations: bothMarks, specReplicas: 5, ...by('kubectl-scale') },
    hold(5, { undoes: 'kubectl-scale' }),
  ],
  ['one whose mark is gone, though its count is stored', { annotations: { [replicas]: '3' } }, hold(3)],
  ['one that is down: the stored count stays', { ...none, annotations: bothMarks }, settle],
  ['one that another client scaled down', none, settle],
]);

const why = { [heldAnnotation]: 'why' };

table('down with the annotation held', { ...down, heldValue: 'why' }, [
  ['in the request that scales down, or that marks a resource with a scale subresource', {}, hold(3, {}, why)],
  [
    'before the scale subresource',
    { annotations: { ...bothMarks, ...why } },
    { ...hold(3, { undoes: 'unknown' }, why), custom: toZero },
  ],
  ['is not added later to a resource that the Go program holds', { ...none, annotations: bothMarks }, settle],
]);

table('up', up, [
  ['a resource that we hold, whoever scaled it', { ...none, annotations: bothMarks, ...by('a') }, restore(3)],
  ['one at 0 without marks', none, restore(1, { undoes: 'unknown' })],
  ['one that another client scaled down', { ...none, ...by('kubectl-edit') }, restore(1, { undoes: 'kubectl-edit' })],
  [
    'one at 0 that was released',
    { ...none, annotations: { [replicas]: '4' }, ...by('dependency-watchdog') },
    restore(4),
  ],
  [
    'a stored count that cannot be read',
    { ...none, annotations: { [active]: '', [replicas]: '0' } },
    restore(1, { unreadable: '0' }),
  ],
  ['one that is up', { readyReplicas: 0 }, settle],
  ['left-over marks: the count stays', { annotations: bothMarks, specReplicas: 5 }, clean],
  ['an annotation that the Go program left behind', { annotations: heldMark }, clean],
]);

table('release', { ...up, direction: 'release' }, [
  ['a resource that we hold: only the mark is removed', { ...none, annotations: bothMarks }, unmark],
  ['one that is not marked', { ...none, annotations: { [replicas]: '3' } }, { workload: 'released' }],
  ['one with only the annotation held left', { annotations: heldMark }, unmark],
  ['one with ignore-scaling', { annotations: { ...bothMarks, [ignore]: 'true' } }, unmark],
]);

for (const plan of [down, up]) {
  table(`ignore-scaling, ${plan.direction}`, plan, [
    ['is left alone', { annotations: { [ignore]: 't' } }, { workload: 'ignored' }],
    ['at 0', { ...none, annotations: { [ignore]: '1', [replicas]: '3' } }, { workload: 'ignored' }],
    ['takes our mark away', { ...none, annotations: { [ignore]: 'T', ...bothMarks } }, unmark],
    ['takes our annotation held away', { annotations: { [ignore]: 't', ...heldMark } }, unmark],
  ]);
}

table('ignore-scaling, down by a standby', { ...down, withoutLead: 'the leader left it' }, [
  ['leaves the marks to the leader', { annotations: { ...bothMarks, [ignore]: 'true' } }, { workload: 'ignored' }],
]);

describe('the scope held', () => {
  const held: PatchInput = { direction: 'up', scope: 'held' };

  table('up', held, [
    ['one that another scaled down', { ...none, annotations: { [replicas]: '3' } }, { workload: 'not-held' }],
    ['one that is up, perhaps by us', {}, settle],
    ['one that we scaled up', by('dependency-watchdog'), settle],
    ['one that another scaled up', by('gardenlet'), { workload: 'not-held' }],
    ['one with ignore-scaling', { annotations: { [ignore]: 'true' } }, { workload: 'ignored' }],
    ['a held resource', { ...none, annotations: bothMarks }, restore(3)],
    ['one that the Go program restored', { annotations: heldMark }, unmark],
    ['one at 0 whose mark the Go program removed', { ...none, annotations: heldMark }, unmark],
  ]);

  it('does not wait for a resource that is no longer configured', () => {
    expect(planPatch({ ...workload, restoreOnly: true }, state(), held)).toMatchObject({ outcome: 'not-held' });
  });
});

it.each([
  ['down', { specReplicas: 0, readyReplicas: 0 }, true],
  ['down', { specReplicas: 0, readyReplicas: 1 }, false],
  ['down', { specReplicas: 0, readyReplicas: 0, observed: false }, false],
  ['down', { specReplicas: 1, readyReplicas: 0 }, false],
  ['up', { specReplicas: 3, readyReplicas: 1 }, true],
  ['up', { specReplicas: 3, readyReplicas: 0 }, false],
  ['up', { specReplicas: 3, readyReplicas: 3, observed: false }, false],
  ['up', { specReplicas: 0, readyReplicas: 3 }, false],
] as const)('a resource has reached its target: %s %j: %s', (direction, given, expected) => {
  expect(isSettled(state(given), direction)).toBe(expected);
});
