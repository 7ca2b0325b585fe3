import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTime } from '../kubernetes/api/meta-time.ts';
import { type Condition, type ConditionStatus, updateCondition } from './condition.ts';
import { type ConditionFailure, shootCondition } from './shoot-conditions.ts';
import type { LastOperation, ShootProgress } from './shoot-status.ts';

const now = Date.parse('2026-11-21T06:00:00Z');
const minute = 60_000;
const type = 'APIServerAvailable';
const failure: ConditionFailure = { reason: 'HealthzRequestFailed', message: 'no route to host' };

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

describe('a failed check', () => {
  interface Row {
    readonly old?: Condition;
    readonly threshold?: number;
    readonly lastOperation?: LastOperation;
    readonly status: ConditionStatus;
  }
  const longAgo = 60 * minute;
  const rows: Readonly<Record<string, Row>> = {
    'True, no threshold': { old: stored('True', longAgo), status: 'False' },
    'True, threshold': { old: stored('True', longAgo), threshold: minute, status: 'Progressing' },
    'True, threshold 0': { old: stored('True', longAgo), threshold: 0, status: 'Progressing' },
    'Progressing, no threshold': { old: stored('Progressing', 0), status: 'False' },
    'Progressing, no threshold, recently succeeded': {
      old: stored('Progressing', 0),
      lastOperation: operation('Succeeded', 0),
      status: 'False',
    },
    'Progressing within the threshold': {
      old: stored('Progressing', 59_000),
      threshold: minute,
      status: 'Progressing',
    },
    'Progressing at the threshold': { old: stored('Progressing', minute), threshold: minute, status: 'Progressing' },
    'Progressing past the threshold': { old: stored('Progressing', 61_000), threshold: minute, status: 'False' },
    'Progressing, threshold 0, in the same moment': {
      old: stored('Progressing', 0),
      threshold: 0,
      status: 'Progressing',
    },
    'Progressing, threshold 0, later': { old: stored('Progressing', 1_000), threshold: 0, status: 'False' },
    'Progressing past the threshold, recently succeeded': {
      old: stored('Progressing', longAgo),
      threshold: minute,
      lastOperation: operation('Succeeded', minute),
      status: 'Progressing',
    },
    'Progressing past the threshold, succeeded long ago': {
      old: stored('Progressing', longAgo),
      threshold: minute,
      lastOperation: operation('Succeeded', 61_000),
      status: 'False',
    },
    'Progressing past the threshold, recently failed': {
      old: stored('Progressing', longAgo),
      threshold: minute,
      lastOperation: operation('Failed', 0),
      status: 'False',
    },
    'Progressing without a time': {
      old: { ...stored('Progressing', 0), lastTransitionTime: '' },
      threshold: minute,
      status: 'False',
    },
    'False, no threshold, another reason': { old: stored('False', 0, 'Other'), status: 'False' },
    'False, recently succeeded': {
      old: stored('False', longAgo),
      threshold: minute,
      lastOperation: operation('Succeeded', minute),
      status: 'Progressing',
    },
    'False, another reason': { old: stored('False', longAgo, 'Other'), threshold: minute, status: 'Progressing' },
    'False, another message alone': { old: stored('False', 0), threshold: minute, status: 'False' },
    'False, succeeded long ago': {
      old: stored('False', 0),
      threshold: minute,
      lastOperation: operation('Succeeded', 61_000),
      status: 'False',
    },
    'Unknown, threshold': {
      old: stored('Unknown', 0, 'Other'),
      threshold: minute,
      lastOperation: operation('Succeeded', 0),
      status: 'False',
    },
    'none, threshold': { threshold: minute, lastOperation: operation('Succeeded', 0), status: 'False' },
    'none, no threshold': { status: 'False' },
    'a status that is none, threshold': { old: stored('Foo', 0), threshold: minute, status: 'False' },
  };

  it.each(Object.entries(rows))('%s', (_, { old, threshold, lastOperation, status }) => {
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
  });
});

describe('a check that starts to fail', () => {
  it('is Progressing for the threshold, then False for good, and leaves no codes when it passes', () => {
    const steps = fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: 300 }), (gaps, seconds) => {
        const thresholdMs = seconds * 1_000;
        let clock = now;
        let old: Condition = stored('True', minute);
        let firstFailure: number | undefined;
        for (const gap of gaps) {
          clock += gap * 1_000;
          firstFailure ??= clock;
          const codes = [`ERR_${String(gap)}`];
          old = shootCondition({ type, old }, { ...failed, codes }, { now: clock, thresholdMs, ...settled });
          expect(old.status).toBe(clock - firstFailure <= seconds * 1_000 ? 'Progressing' : 'False');
          expect(old.codes).toEqual(codes);
        }
        const passed = updateCondition({ type, old }, { status: 'True', reason: 'R', message: 'M' }, clock);
        expect(passed).not.toHaveProperty('codes');
      }),
    );
  });

  it('is False at once without a threshold', () => {
    const condition = shootCondition({ type, old: stored('True', 0) }, failed, { now, ...settled });
    expect(condition.status).toBe('False');
  });
});

describe('a failure that is expected', () => {
  const at = (operationType: string, state: string): LastOperation => ({
    type: operationType,
    state,
    lastUpdateTime: formatTime(now),
  });
  const rows: readonly (readonly [what: string, ShootProgress, isPardoned: boolean])[] = [
    ['no last operation', { hasLastErrors: false }, true],
    ['no last operation, errors', { hasLastErrors: true }, true],
    ...['Processing', 'Error', 'Failed', 'Pending', 'Aborted'].flatMap((state) =>
      ['Create', 'Delete'].flatMap((operationType) =>
        [false, true].map(
          (hasLastErrors) =>
            [
              `${operationType} ${state}, errors ${String(hasLastErrors)}`,
              { lastOperation: at(operationType, state), hasLastErrors },
              true,
            ] as const,
        ),
      ),
    ),
    ['Create Succeeded', { lastOperation: at('Create', 'Succeeded'), hasLastErrors: false }, false],
    ['Delete Succeeded', { lastOperation: at('Delete', 'Succeeded'), hasLastErrors: false }, false],
    ...['Reconcile', 'Migrate', 'Restore'].flatMap(
      (operationType) =>
        [
          [
            `${operationType} Processing`,
            { lastOperation: at(operationType, 'Processing'), hasLastErrors: false },
            true,
          ],
          [
            `${operationType} Processing, errors`,
            { lastOperation: at(operationType, 'Processing'), hasLastErrors: true },
            false,
          ],
          [
            `${operationType} Succeeded`,
            { lastOperation: at(operationType, 'Succeeded'), hasLastErrors: false },
            false,
          ],
          [`${operationType} Error`, { lastOperation: at(operationType, 'Error'), hasLastErrors: false }, false],
        ] as const,
    ),
  ];

  it.each(rows)('%s', (_, progress, isPardoned) => {
    const base = { type, old: stored('True', minute) };
    const codes = ['ERR_INFRA_DEPENDENCIES'];
    for (const status of ['Failed', 'False'] as const) {
      expect(shootCondition(base, { ...failure, status, codes }, { ...progress, now })).toMatchObject({
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
