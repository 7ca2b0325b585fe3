import { beforeEach, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import type { Verdict } from '../judge/verdict.ts';
import { upVerdict } from '../testing/cases.ts';
import { runEnded } from '../testing/prober-events.ts';
import { decisionOf } from '../testing/shoot-prober-views.ts';
import type { Emit, ProberEvent } from './events.ts';
import { watchLateProtection } from './late-protection.ts';

let clock: VirtualClock;
let late: ProberEvent[];
let observe: Emit;
let isUnprotected: boolean;
beforeEach(() => {
  clock = createVirtualClock();
  late = [];
  isUnprotected = true;
  observe = watchLateProtection({ clock, isUnprotected: () => isUnprotected, emit: (event) => late.push(event) });
});

const lateBy = (seconds: number): ProberEvent => ({ kind: 'protection-late', cluster: 'a', seconds });
const judge = (verdict: Verdict, hasObservedRenewals = true): void =>
  observe(runEnded('a', decisionOf(verdict, { hasObservedRenewals })));
const crossed = (agoMs: number): Verdict => ({ kind: 'unhealthy', crossedAt: clock.monotonic() - agoMs });

it('reports once that nothing is scaled down five seconds after the threshold', async () => {
  judge(crossed(300));
  await clock.advance(4_699);
  expect(late).toEqual([]);
  await clock.advance(1);
  expect(late).toEqual([lateBy(5)]);
  judge(crossed(15_000));
  await clock.advance(60_000);
  expect(late).toHaveLength(1);
});

it('reports nothing if a resource is scaled down in time, by any replica', async () => {
  judge(crossed(0));
  isUnprotected = false;
  await clock.advance(5_000);
  expect(late).toEqual([]);
});

it('reports at once that a verdict comes too late', async () => {
  judge(crossed(7_000));
  await clock.advance(0);
  expect(late).toEqual([lateBy(7)]);
});

it('counts from the verdict in an outage that began unwatched', async () => {
  judge(crossed(300_000), false);
  await clock.advance(4_999);
  expect(late).toEqual([]);
  await clock.advance(1);
  expect(late).toEqual([lateBy(5)]);
});

it.each<readonly Verdict[]>([[{ kind: 'skipped' }], [{ kind: 'skipped' }, { kind: 'confirming' }]])(
  'counts from the verdict if the scale-down was prevented until now',
  async (...before) => {
    for (const verdict of before) judge(verdict);
    judge(crossed(20_000));
    await clock.advance(4_999);
    expect(late).toEqual([]);
    await clock.advance(1);
    expect(late).toEqual([lateBy(5)]);
  },
);

it('treats the outage as the same after failed runs, and as a new one after another verdict', async () => {
  judge(crossed(0));
  judge({ kind: 'failed', failure: 'lease_list_failed', error: new Error('x') as never });
  await clock.advance(5_000);
  expect(late).toHaveLength(1);
  judge(upVerdict);
  judge(crossed(0));
  await clock.advance(5_000);
  expect(late).toHaveLength(2);
});

it.each<{ readonly what: string; readonly end: () => void }>([
  { what: 'the outage is over', end: () => judge(upVerdict) },
  { what: 'the shoot is forgotten', end: () => observe({ kind: 'forgotten', cluster: 'a' }) },
  { what: 'the program ends', end: () => observe({ kind: 'ended', held: new Map() }) },
])('reports nothing when $what before', async ({ end }) => {
  judge(crossed(0));
  end();
  await clock.advance(60_000);
  expect(late).toEqual([]);
  expect(clock.pending).toBe(0);
});
