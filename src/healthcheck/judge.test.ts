import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Condition, newCondition } from '../gardener/condition.ts';
import type { CheckOutcome } from './check.ts';
import { aggregateOutcomes } from './judge.ts';

const now = Date.parse('2026-11-21T06:00:00Z');
const minute = 60_000;

const fine: CheckOutcome = { status: 'True' };
const failed = (detail: string): CheckOutcome => ({ status: 'Failed', detail });
const wrong = (detail: string, ...codes: readonly string[]): CheckOutcome => ({ status: 'False', detail, codes });
const moving = (detail: string, progressingThresholdMs?: number, ...codes: readonly string[]): CheckOutcome => ({
  status: 'Progressing',
  detail,
  codes,
  ...(progressingThresholdMs === undefined ? {} : { progressingThresholdMs }),
});
const stored = (status: string, ageMs = 0): Condition => ({ ...newCondition('X', now - ageMs), status });

const unknown = (message: string) => ({ status: 'Unknown', reason: 'ConditionCheckError', message });
const unsuccessful = (message: string, ...codes: readonly string[]) => ({
  status: 'False',
  reason: 'HealthCheckUnsuccessful',
  message,
  codes,
});
const progressing = (message: string, ...codes: readonly string[]) => ({
  status: 'Progressing',
  reason: 'HealthCheckProgressing',
  message,
  codes,
});
const successful = { status: 'True', reason: 'HealthCheckSuccessful', message: 'All health checks successful' };

const rows: readonly (readonly [outcomes: readonly CheckOutcome[], old: Condition | undefined, becomes: object])[] = [
  [[fine, fine], undefined, successful],
  [[fine, failed('dial: timeout')], undefined, unknown('failed to execute 1 health check: dial: timeout.')],
  [[failed('a'), failed('b.')], undefined, unknown('failed to execute 2 health checks: 1) a. 2) b.')],
  // No codes of the others.
  [
    [wrong('w', 'ERR_A'), failed('f'), moving('m', minute, 'ERR_B')],
    undefined,
    unknown('failed to execute 1 health check: Unable to execute check: f. Failed check: w. Progressing check: m.'),
  ],
  [
    [moving('m1'), wrong('w1'), failed('f1'), fine, wrong('w2'), moving('m2.'), failed('f2')],
    undefined,
    unknown(
      'failed to execute 2 health checks: Unable to execute checks: 1) f1. 2) f2. Failed checks: 1) w1. 2) w2. Progressing checks: 1) m1. 2) m2.',
    ),
  ],
  [[wrong('w', 'ERR_B', 'ERR_A'), wrong('x', 'ERR_B')], undefined, unsuccessful('1) w. 2) x.', 'ERR_A', 'ERR_B')],
  // A success with codes, from JavaScript.
  [[wrong('w', 'ERR_A'), { status: 'True', codes: ['ERR_B'] } as CheckOutcome], undefined, unsuccessful('w.', 'ERR_A')],
  [
    [moving('m', minute, 'ERR_B'), wrong('w', 'ERR_A')],
    stored('True'),
    unsuccessful('Failed check: w. Progressing check: m.', 'ERR_A', 'ERR_B'),
  ],
  [[fine, moving('m', minute, 'ERR_A')], undefined, progressing('m.', 'ERR_A')],
  [[moving('m', minute)], stored('True', 60 * minute), progressing('m.')],
  [[moving('m', minute)], stored('Progressing', minute), progressing('m.')],
  [[moving('m', minute, 'ERR_A')], stored('Progressing', minute + 1_000), unsuccessful('m.', 'ERR_A')],
  [[moving('m', minute)], stored('False'), unsuccessful('m.')],
  [[moving('m', minute)], { ...stored('Progressing'), lastTransitionTime: '' }, unsuccessful('m.')],
  [[moving('m')], undefined, unsuccessful('m.')],
  // The smallest threshold counts.
  [
    [moving('a', 5 * minute), moving('b', minute), moving('c')],
    stored('Progressing', 2 * minute),
    unsuccessful('1) a. 2) b. 3) c.'),
  ],
];

it.each(rows)('the checks of one type: %j after %j', (outcomes, old, becomes) => {
  expect(aggregateOutcomes(outcomes, { old, now })).toEqual(becomes);
});

const outcome: fc.Arbitrary<CheckOutcome> = fc.oneof(
  fc.constant(fine),
  fc.string().map(failed),
  fc.tuple(fc.string(), fc.subarray(['ERR_A', 'ERR_B'])).map(([detail, codes]) => wrong(detail, ...codes)),
  fc.tuple(fc.string(), fc.option(fc.nat(10 * minute))).map(([detail, ms]) => moving(detail, ms ?? undefined)),
);
const old = fc.option(
  fc
    .tuple(fc.constantFrom('True', 'False', 'Unknown', 'Progressing'), fc.nat(600))
    .map(([status, seconds]) => stored(status, seconds * 1_000)),
  { nil: undefined },
);

const any = fc.array(outcome, { minLength: 1, maxLength: 6 });

it('the condition of any outcomes has a status that does not depend on the order, and a message with every detail', () => {
  fc.assert(
    fc.property(any, old, (outcomes, before) => {
      const forward = aggregateOutcomes(outcomes, { old: before, now });
      const backward = aggregateOutcomes(outcomes.toReversed(), { old: before, now });
      expect(backward).toMatchObject({ status: forward.status, reason: forward.reason });
      expect(backward.codes).toEqual(forward.codes);
      for (const one of outcomes) if ('detail' in one) expect(forward.message).toContain(one.detail);
    }),
  );
});
