import { describe, expect, it } from 'vitest';
import { formatTime } from '../kubernetes/api/meta-time.ts';
import { type ConditionFailure, failedCondition } from './condition-thresholds.ts';
import { type Condition, updateCondition } from './condition.ts';
import { pardon } from './pardon.ts';
import type { LastOperation, ShootProgress } from './shoot-status.ts';

const now = Date.parse('2026-11-21T06:00:00Z');
const minute = 60_000;
const type = 'APIServerAvailable';
const failure: ConditionFailure = { reason: 'HealthzRequestFailed', message: 'no route to host' };

const stored = (status: string, ageMs: number): Condition => ({
  type,
  status,
  lastTransitionTime: formatTime(now - ageMs),
  lastUpdateTime: formatTime(now - ageMs),
  reason: failure.reason,
  message: 'before',
});

describe('a failure', () => {
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
    const failed = failedCondition(base, { ...failure, codes }, { now, thresholds: new Map() });
    const { condition, changed } = pardon(failed, base, { ...progress, now });
    expect(condition).toEqual({ ...failed.condition, status: isPardoned ? 'Progressing' : 'False' });
    expect(changed).toBe(true);
  });

  it.each(['True', 'Unknown', 'Progressing'] as const)('leaves %s alone', (status) => {
    const base = { type };
    const updated = updateCondition(base, { status, reason: 'R', message: 'M' }, now);
    expect(pardon(updated, base, { hasLastErrors: false, now })).toEqual(updated);
  });

  it('keeps its timestamps while it lasts', () => {
    const run = (old: Condition | undefined, at: number) => {
      const base = { type, old };
      const failed = failedCondition(base, failure, { now: at, thresholds: new Map() });
      return pardon(failed, base, { hasLastErrors: false, now: at });
    };
    const first = run(stored('True', minute), now);
    expect(first.condition).toMatchObject({ status: 'Progressing', lastTransitionTime: formatTime(now) });
    expect(run(first.condition, now + minute)).toEqual({ condition: first.condition, changed: false });
  });
});
