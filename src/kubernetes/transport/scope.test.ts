import { beforeEach, expect, it } from 'vitest';
import { type VirtualClock, createVirtualClock } from '../../../simulator/time/clock.ts';
import { SimulatedProcess } from '../../../simulator/harness/simulated-process.ts';
import { startTimeout } from './scope.ts';

let clock: VirtualClock;
let process: SimulatedProcess;
let fired: number;
let cancel: () => void;
beforeEach(() => {
  clock = createVirtualClock();
  process = new SimulatedProcess(clock);
  fired = 0;
  cancel = startTimeout(process.clock, 1_000, () => (fired += 1));
});

it('fires on time', async () => {
  await clock.advance(999);
  expect(fired).toBe(0);
  await clock.advance(1);
  expect(fired).toBe(1);
});

it('waits for the next turn of the event loop if the process was held up', async () => {
  process.suspend();
  await clock.advance(1_100);
  await process.resume();
  expect(fired).toBe(0);
  await clock.advance(0);
  expect(fired).toBe(1);
});

it.each([0, 1_100])('can be cancelled after %d ms', async (ms) => {
  process.suspend();
  await clock.advance(ms);
  await process.resume();
  cancel();
  await clock.advance(2_000);
  expect(fired).toBe(0);
  expect(clock.pending).toBe(0);
});
