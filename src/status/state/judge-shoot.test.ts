import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stateInWords } from './judge-seed.ts';
import { type JudgeContext, judgeShoot } from './judge-shoot.ts';
import type { ShootFacts } from './schema.ts';
import type { ShootState } from './states.ts';
import { type Situation, context, factsIn, factsOf, situationNames, toldOf } from './testing/facts.ts';

/** What is told of a shoot, without the parts that are empty. */
const told = (all: readonly Situation[], given: Partial<JudgeContext> = {}): readonly string[] => {
  const { why, next, do: what, runbook, ...shoot } = toldOf(factsIn('one', ...all), given);
  return [stateInWords(shoot), why, next.text, what, runbook ?? ''];
};

describe('what is told', () => {
  it('of a shoot in which all these are so: its state, why, what is next, what to do, the runbook', async () => {
    const lines = readFileSync(new URL('fixtures/told.txt', import.meta.url), 'utf8')
      .trimEnd()
      .split('\n');
    const retold = lines.map((line) => {
      const [situations = ''] = line.split(' | ');
      const all = situations.split(' ').filter((one) => one !== 'nothing') as readonly Situation[];
      return [situations, ...told(all).map((text) => text || '-')].join(' | ');
    });
    await expect(`${retold.join('\n')}\n`).toMatchFileSnapshot('fixtures/told.txt');
  });

  it('in a dry run', () => {
    expect(told([], { dryRun: true })).toEqual([
      'NOT PROTECTED',
      'dry run: nothing is written in an outage',
      'protected once that is mended',
      'run the prober without --dry-run',
      'DwdShootUnprotected',
    ]);
    expect(told(['outage', 'up'], { dryRun: true })[1]).toBe('12/12 expired; dry run: nothing is written in an outage');
  });

  it.each<Situation>(['outage', 'landing', 'flapping', 'hibernated'])('of who restores, %s', (one) => {
    const nextIn = (given: Partial<JudgeContext>) => told(['held', one], given)[2];
    const act = one === 'hibernated' ? 'given back' : 'restored';
    expect(nextIn({ leads: false })).toBe(`${act} by the replica that leads`);
    expect(nextIn({ dryRun: true })).toBe('a dry run restores nothing');
  });

  it.each<Situation>(['outage', 'landing', 'flapping'])('of a restoration that waits for the Cluster, %s', (one) => {
    expect(told(['held', one], { isClusterStale: true })[2]).toBe(
      'restored when the clusters of the seed can be read again: it may be hibernated or deleted by now',
    );
  });

  it('as of the last look if none has ended for three intervals', () => {
    expect(told([], { now: context.now + 28_000 })[1]).toBe('as of 11:59:57 0/12 expired');
    expect(told([], { now: context.now + 27_000 })[1]).toBe('0/12 expired');
  });
});

describe('every pair', () => {
  const pairs = situationNames.flatMap((one, index) =>
    situationNames.slice(index + 1).map((other) => [one, other] as const),
  );

  const isBlindIn = ({ failing }: ShootFacts): boolean => failing !== undefined && failing.runs > 2;

  it.each(pairs)('%s and %s: never says more than is known', (...pair) => {
    const facts = factsIn('one', ...pair);
    const shoot = toldOf(facts);
    const all = [shoot.why, shoot.next.text, shoot.do].filter((text) => text !== '').join(' ');
    expect(shoot.why).not.toBe('');
    expect(all).not.toMatch(/undefined|NaN|  |; ;|: ;|;$/);
    if (facts.notProbed !== undefined) expect(shoot.state).toBe<ShootState>('not probed');
    else if (isBlindIn(facts)) {
      expect(['blind', 'not protected']).toContain(shoot.state);
      // Ages and counts of a shoot that cannot be seen are told as of the last look.
      const counted = /\d+\/\d+ (?:expired|silent)/.exec(shoot.why);
      if (counted !== null) expect(shoot.why.slice(0, counted.index)).toMatch(/as of \d\d:\d\d:\d\d $/);
      expect(all).not.toMatch(/outage continues|restored when/);
    }
    // A held resource is never kept quiet.
    if (facts.held.length > 0) expect(`${shoot.why} ${shoot.next.text}`).toMatch(/held|restor|renew/);
  });
});

describe('a shoot is blind', () => {
  const blindAfter = (runs: number, seconds: number): boolean => {
    const since = new Date(context.now - seconds * 1_000).toISOString();
    const failing = { since, runs, read: 'leases', reason: 'x', kind: 'answer' } as const;
    return judgeShoot(factsOf('one', { failing }), context).state === 'blind';
  };

  it('after three failed runs, or three intervals', () => {
    expect([blindAfter(1, 2), blindAfter(2, 29), blindAfter(3, 6), blindAfter(1, 30)]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});
