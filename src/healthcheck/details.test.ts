import { describe, expect, it } from 'vitest';
import type { CheckOutcome } from './check.ts';
import { describeOutcomes } from './details.ts';

const fine: CheckOutcome = { status: 'True' };
const failed = (detail: string): CheckOutcome => ({ status: 'Failed', detail });
const wrong = (detail: string): CheckOutcome => ({ status: 'False', detail });
const moving = (detail: string): CheckOutcome => ({ status: 'Progressing', detail });

describe('details', () => {
  it.each([
    ['nothing', [], ''],
    ['only successes', [fine, fine], ''],
    ['one', [wrong('a is down')], 'a is down.'],
    ['one that ends with a dot', [wrong('a is down.')], 'a is down.'],
    ['one among successes', [fine, wrong('a'), fine], 'a.'],
    ['several', [wrong('a'), wrong('b.'), wrong('c')], '1) a. 2) b. 3) c.'],
    ['several failures', [failed('a'), failed('b')], '1) a. 2) b.'],
    ['several that progress', [moving('a'), fine, moving('b')], '1) a. 2) b.'],
    ['one without a text', [wrong('')], '.'],
    ['two sections', [wrong('a'), failed('b')], 'Unable to execute check: b. Failed check: a.'],
    ['unsuccessful and progressing', [moving('a'), wrong('b')], 'Failed check: b. Progressing check: a.'],
    ['failed and progressing', [moving('a'), failed('b')], 'Unable to execute check: b. Progressing check: a.'],
    [
      'all three, in the order of registration',
      [moving('m1'), wrong('w1'), failed('f1'), fine, wrong('w2'), moving('m2.'), failed('f2')],
      'Unable to execute checks: 1) f1. 2) f2. Failed checks: 1) w1. 2) w2. Progressing checks: 1) m1. 2) m2.',
    ],
  ])('of %s', (_, outcomes, text) => {
    expect(describeOutcomes(outcomes)).toBe(text);
  });
});
