import { beforeEach, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { sightOf } from '../testing/shoot-prober-views.ts';
import type { Emit, ProberEvent } from './events.ts';
import { watchLateProtection } from './late-protection.ts';

let clock: VirtualClock;
let late: ProberEvent[];
let observe: Emit;
let isAnyHeld: boolean;
beforeEach(() => {
  clock = createVirtualClock();
  late = [];
  isAnyHeld = false;
  observe = watchLateProtection({ clock, isAnyHeld: () => isAnyHeld, emit: (event) => late.push(event) });
});

const lateBy = (seconds: number): ProberEvent => ({ kind: 'protection-late', cluster: 'a', seconds });
/** A step after which the outage is unmet since this time ago; met if it is absent. */
const step = (agoMs?: number): void => {
  const view = sightOf({ unmetSince: agoMs === undefined ? undefined : clock.monotonic() - agoMs });
  observe({ kind: 'stepped', cluster: 'a', state: view.state, readView: () => view });
};

it('reports once that an outage is unmet for five seconds', async () => {
  step(300);
  await clock.advance(4_000);
  step(4_300);
  await clock.advance(699);
  expect(late).toEqual([]);
  await clock.advance(1);
  expect(late).toEqual([lateBy(5)]);
  step(5_000);
  await clock.advance(60_000);
  expect(late).toHaveLength(1);
});

it('reports nothing if a resource is held by then', async () => {
  step(0);
  isAnyHeld = true;
  await clock.advance(5_000);
  expect(late).toEqual([]);
});

it('reports the next outage, too', async () => {
  step(0);
  await clock.advance(6_000);
  step();
  step(0);
  await clock.advance(6_000);
  expect(late).toEqual([lateBy(5), lateBy(5)]);
});

it.each<{ readonly what: string; readonly end: () => void }>([
  { what: 'the outage is met or over', end: () => step() },
  { what: 'the shoot is forgotten', end: () => observe({ kind: 'forgotten', cluster: 'a' }) },
  { what: 'the program ends', end: () => observe({ kind: 'ended', held: new Map() }) },
])('reports nothing when $what before', async ({ end }) => {
  step(0);
  end();
  await clock.advance(60_000);
  expect(late).toEqual([]);
  expect(clock.pending).toBe(0);
});
