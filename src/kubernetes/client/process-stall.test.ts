import { expect, it } from 'vitest';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { SimulatedProcess } from '../../../simulator/harness/simulated-process.ts';
import { measureStall } from './process-stall.ts';

it('measures for how long the process did not run, even before a late timer has fired', async () => {
  const clock = createVirtualClock();
  const process = new SimulatedProcess(clock);
  const holdUp = measureStall(process.clock);
  await clock.advance(60_000);
  expect(holdUp.ms()).toBe(0);
  await clock.advance(100);
  process.suspend();
  await clock.advance(1_000);
  // The next pulse was due 150 ms after the start.
  expect(holdUp.ms()).toBe(850);
  await process.resume();
  expect(holdUp.ms()).toBe(850);
  await clock.advance(60_000);
  expect(holdUp.ms()).toBe(850);
  holdUp.end();
  holdUp.end();
  await clock.advance(60_000);
  expect(holdUp.ms()).toBe(850);
  expect(clock.pending).toBe(0);
});
