import { describe, expect, it } from 'vitest';
import { DecisionLog, type NewDecision } from './decision-log.ts';

const decision = (at: number, given: Partial<NewDecision> = {}): NewDecision => ({
  at,
  verdict: 'healthy',
  reason: '0/5 expired',
  ...given,
});

describe('a log of decisions', () => {
  it('keeps the latest 50', () => {
    const log = new DecisionLog();
    for (let at = 0; at < 120; at += 1) log.add(decision(at, { reason: at % 2 === 0 ? 'even' : 'odd' }));
    expect(log.all()).toHaveLength(50);
    expect(log.all()[0]?.at).toBe(70);
  });

  it('merges consecutive decisions that differ only in numbers, and keeps the latest of these', () => {
    const log = new DecisionLog();
    for (const left of [41, 36, 31]) {
      const reason = `1 of 5 renewed, in ${String(left)} s at the latest`;
      log.add(decision(100 - left, { verdict: 'landing', reason }));
    }
    log.add(decision(100));
    expect(log.all()).toMatchObject([
      { at: 59, lastAt: 69, runs: 3, reason: '1 of 5 renewed, in 31 s at the latest' },
      { at: 100, lastAt: 100, runs: 1 },
    ]);
  });

  it.each<Partial<NewDecision>>([{ verdict: 'skipped' }, { reason: 'another' }])(
    'keeps different decisions apart: %j',
    (change) => {
      const log = new DecisionLog();
      log.add(decision(1));
      log.add(decision(2, change));
      expect(log.all()).toHaveLength(2);
    },
  );

  it('truncates a reason, however long an API server has made it', () => {
    const log = new DecisionLog();
    const reason = 'x'.repeat(100_000);
    log.add(decision(1, { reason }));
    log.add(decision(2, { reason }));
    expect(log.all()).toEqual([{ ...decision(1, { reason: 'x'.repeat(200) }), lastAt: 2, runs: 2 }]);
  });
});
