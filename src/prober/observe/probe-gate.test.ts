import { beforeEach, describe, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { SimulatedProcess } from '../../../simulator/harness/simulated-process.ts';
import type { ObservedLease } from '../judge/judgement.ts';
import { ProbeGate, runNeededBy } from './probe-gate.ts';

let clock: VirtualClock;
let process: SimulatedProcess;
let gate: ProbeGate;
/** Started probes, in order. */
let started: number[];
beforeEach(() => {
  clock = createVirtualClock();
  process = new SimulatedProcess(clock);
  gate = new ProbeGate(process.clock);
  started = [];
});

const { signal } = new AbortController();

const enter = (neededBy: number): void => void gate.enter({ neededBy, signal }).then(() => started.push(neededBy));

const enterMany = (count: number): void => Array.from({ length: count }, () => 0).forEach(enter);

/** Runs pending microtasks, without another turn of the event loop. */
const startedNow = async (): Promise<number> => {
  await clock.settle();
  return started.length;
};

/** A turn of the event loop that takes this long. */
const turn = async (ms: number): Promise<void> => {
  process.suspend();
  await clock.advance(ms);
  await process.resume();
};

describe('the gate of probes', () => {
  it('lets sixteen probes start per turn of the event loop, all at the same instant of a virtual clock', async () => {
    enterMany(40);
    expect(await startedNow()).toBe(16);
    expect(gate.waiting).toBe(24);
    await clock.advance(0);
    expect([started.length, gate.waiting, clock.monotonic()]).toEqual([40, 0, 0]);
    expect(clock.pending).toBe(0);
  });

  it('does not wait for probes to end', async () => {
    for (const count of [1, 2, 3]) {
      enterMany(16);
      await clock.advance(0);
      expect(started).toHaveLength(16 * count);
    }
  });

  it('lets one probe start per turn after a turn of 50 ms, until a second has passed without another such turn', async () => {
    enterMany(80);
    await turn(49);
    expect(await startedNow()).toBe(32);
    await turn(50);
    expect(await startedNow()).toBe(33);
    for (const count of [34, 35, 36]) {
      await turn(10);
      expect(await startedNow()).toBe(count);
    }
    await turn(969);
    expect(await startedNow()).toBe(37);
    for (let ms = 0; ms < 960; ms += 40) await turn(40);
    expect(await startedNow()).toBe(61);
    await turn(40);
    expect(await startedNow()).toBe(77);
  });

  it('lets the probe that is needed first start first, and equal ones in the order of their arrival', async () => {
    enterMany(16);
    const late = [3, 1, 2, 1.5, 1];
    const order: number[] = [];
    for (const [index, neededBy] of late.entries()) {
      void gate.enter({ neededBy, signal }).then(() => order.push(index));
    }
    await turn(100);
    for (let count = 0; count < 5; count += 1) await turn(10);
    await clock.settle();
    expect(order).toEqual([1, 4, 3, 2, 0]);
  });

  it('forgets a probe that is no longer wanted', async () => {
    enterMany(16);
    const abort = new AbortController();
    const entered = gate.enter({ neededBy: 0, signal: abort.signal });
    enter(1);
    abort.abort('not wanted');
    await expect(entered).rejects.toBe('not wanted');
    expect(gate.waiting).toBe(1);
    await clock.advance(0);
    expect(started.at(-1)).toBe(1);
    await expect(gate.enter({ neededBy: 0, signal: abort.signal })).rejects.toBe('not wanted');
  });
});

describe('a run is needed', () => {
  it.each([
    { what: 'at once while no lease is known', leases: [], at: 100_000 },
    { what: 'at once during a scaling', leases: [90_000], scaling: {}, at: 100_000 },
    {
      what: 'at once during a scaling, even if all is held',
      leases: [90_000],
      scaling: {},
      isHeld: true,
      at: 100_000,
    },
    { what: 'a grace period later if all is held', leases: [70_000], isHeld: true, at: 140_000 },
    { what: 'when the grace period of the first node ends', leases: [90_000, 75_000, 80_000], at: 115_000 },
    { what: 'whatever nodes whose grace period is over', leases: [50_000, 60_000, 90_000], at: 130_000 },
    { what: 'a grace period later if it is over for all', leases: [50_000, 60_000], at: 140_000 },
  ])('$what', ({ leases, scaling, isHeld = false, at }) => {
    const probe = { leases: leases.map((silentSince) => ({ silentSince }) as ObservedLease) };
    const state = { probe, scaling } as Parameters<typeof runNeededBy>[0];
    expect(runNeededBy(state, { now: 100_000, graceMs: 40_000, isHeld })).toBe(at);
  });
});
