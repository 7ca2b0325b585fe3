import { describe, expect, it } from 'vitest';
import { DecisionLog, type NewDecision } from './decision-log.ts';

const decision = (at: number, given: Partial<NewDecision> = {}): NewDecision => ({
  at,
  verdict: 'healthy',
  reason: '0/5 expired',
  counts: { candidates: 5, expired: 0 },
  threshold: 0.6,
  ...given,
});

describe('a log of decisions', () => {
  it('keeps the latest 50', () => {
    const log = new DecisionLog();
    for (let at = 0; at < 120; at += 1) log.add(decision(at, { reason: `reason ${String(at)}` }));
    expect(log.all()).toHaveLength(50);
    expect(log.all()[0]?.at).toBe(70);
    expect(log.all().at(-1)?.reason).toBe('reason 119');
  });

  it('merges consecutive equal decisions', () => {
    const log = new DecisionLog();
    for (const at of [10, 20, 30]) log.add(decision(at));
    log.add(decision(40, { counts: { candidates: 5, expired: 1 } }));
    log.add(decision(50));
    expect(log.all().map(({ at, lastAt, runs }) => [at, lastAt, runs])).toEqual([
      [10, 30, 3],
      [40, 40, 1],
      [50, 50, 1],
    ]);
  });

  it.each<Partial<NewDecision>>([
    { verdict: 'skipped' },
    { reason: 'another' },
    { threshold: 0.5 },
    { counts: undefined },
  ])('keeps different decisions apart: %j', (change) => {
    const log = new DecisionLog();
    log.add(decision(1));
    log.add(decision(2, change));
    expect(log.all()).toHaveLength(2);
  });

  it('truncates a reason, however long an API server has made it', () => {
    const log = new DecisionLog();
    const reason = 'x'.repeat(100_000);
    log.add(decision(1, { reason }));
    log.add(decision(2, { reason }));
    expect(log.all()).toEqual([{ ...decision(1, { reason: 'x'.repeat(200) }), lastAt: 2, runs: 2 }]);
  });
});
