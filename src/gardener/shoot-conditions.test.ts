import { describe, expect, it } from 'vitest';
import { formatTime } from '../kubernetes/api/meta-time.ts';
import type { Condition, ConditionStatus } from './condition.ts';
import { shootCondition } from './shoot-conditions.ts';
import type { LastOperation } from './shoot-status.ts';

const now = Date.parse('2026-11-21T06:00:00Z');
const minute = 60_000;
const type = 'APIServerAvailable';
const failure = { reason: 'HealthzRequestFailed', message: 'no route to host' };

const stored = (status: string, ageMs: number, reason = failure.reason): Condition => ({
  type,
  status,
  lastTransitionTime: formatTime(now - ageMs),
  lastUpdateTime: formatTime(now - ageMs),
  reason,
  message: 'before',
});
const operation = (state: string, ageMs: number): LastOperation => ({
  type: 'Reconcile',
  state,
  lastUpdateTime: formatTime(now - ageMs),
});

/** A Shoot whose failures are not expected. */
const settled = { lastOperation: operation('Error', 60 * minute), hasLastErrors: true };
const failed = { status: 'Failed', ...failure } as const;

const longAgo = 60 * minute;
const rows: readonly (readonly [
  old: Condition | undefined,
  threshold: number | undefined,
  lastOperation: LastOperation | undefined,
  status: ConditionStatus,
])[] = [
  [stored('True', longAgo), undefined, undefined, 'False'],
  [stored('True', longAgo), minute, undefined, 'Progressing'],
  [stored('True', longAgo), 0, undefined, 'Progressing'],
  [stored('Progressing', 0), undefined, operation('Succeeded', 0), 'False'],
  [stored('Progressing', minute), minute, undefined, 'Progressing'],
  [stored('Progressing', 61_000), minute, undefined, 'False'],
  [stored('Progressing', 0), 0, undefined, 'Progressing'],
  [stored('Progressing', 1_000), 0, undefined, 'False'],
  [stored('Progressing', longAgo), minute, operation('Succeeded', minute), 'Progressing'],
  [stored('Progressing', longAgo), minute, operation('Succeeded', 61_000), 'False'],
  [{ ...stored('Progressing', 0), lastTransitionTime: '' }, minute, undefined, 'False'],
  [stored('False', longAgo), minute, operation('Succeeded', minute), 'Progressing'],
  [stored('False', longAgo, 'Other'), minute, undefined, 'Progressing'],
  [stored('False', 0), minute, undefined, 'False'],
  [stored('False', 0), minute, operation('Succeeded', 61_000), 'False'],
  [stored('Unknown', 0, 'Other'), minute, operation('Succeeded', 0), 'False'],
  [undefined, minute, operation('Succeeded', 0), 'False'],
  [stored('Foo', 0), minute, undefined, 'False'],
];

it.each(rows)(
  'a failed check after %j, with the threshold %j and the operation %j, is %s',
  (old, threshold, lastOperation, status) => {
    const codes = ['ERR_INFRA_DEPENDENCIES'];
    const progress = lastOperation === undefined ? settled : { lastOperation, hasLastErrors: false };
    const condition = shootCondition({ type, old }, { ...failed, codes }, { now, thresholdMs: threshold, ...progress });
    expect(condition).toEqual({
      type,
      status,
      ...failure,
      codes,
      lastTransitionTime: old?.status === status ? old.lastTransitionTime || formatTime(now) : formatTime(now),
      lastUpdateTime: formatTime(now),
    });
  },
);

describe('a failure that is expected', () => {
  it.each<[operation: string | undefined, hasLastErrors: boolean, isPardoned: boolean]>([
    ['Create Processing', true, true],
    ['Create Error', true, true],
    ['Create Succeeded', false, false],
    ['Delete Failed', true, true],
    ['Delete Succeeded', false, false],
    ['Reconcile Processing', false, true],
    ['Reconcile Processing', true, false],
    ['Reconcile Succeeded', false, false],
    ['Migrate Error', false, false],
    [undefined, true, true],
  ])('%s, errors %s: %s', (operationAndState, hasLastErrors, isPardoned) => {
    const [operationType = '', state = ''] = operationAndState?.split(' ') ?? [];
    const lastOperation = operationAndState === undefined ? undefined : { ...operation(state, 0), type: operationType };
    const base = { type, old: stored('True', minute) };
    const codes = ['ERR_INFRA_DEPENDENCIES'];
    for (const status of ['Failed', 'False'] as const) {
      expect(shootCondition(base, { ...failure, status, codes }, { lastOperation, hasLastErrors, now })).toMatchObject({
        ...{ ...failure, codes, lastTransitionTime: formatTime(now) },
        status: isPardoned ? 'Progressing' : 'False',
      });
    }
  });

  it.each(['True', 'Unknown', 'Progressing'] as const)('leaves %s alone', (status) => {
    const condition = shootCondition({ type }, { status, reason: 'R', message: 'M' }, { hasLastErrors: false, now });
    expect(condition.status).toBe(status);
  });

  it('keeps its timestamps while it lasts', () => {
    const run = (old: Condition | undefined, at: number) =>
      shootCondition({ type, old }, failed, { hasLastErrors: false, now: at });
    const first = run(stored('True', minute), now);
    expect(first).toMatchObject({ status: 'Progressing', lastTransitionTime: formatTime(now) });
    expect(run(first, now + minute)).toBe(first);
  });
});
