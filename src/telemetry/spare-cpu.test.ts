import { expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { SimulatedProcess } from '../../simulator/harness/simulated-process.ts';
import { SpareCpu } from './spare-cpu.ts';

it.each([
  { turnMs: 0, restMs: 0 },
  { turnMs: 6, restMs: 0 },
  { turnMs: 7, restMs: 2_000 },
])('rests after four turns of the event loop of $turnMs ms: $restMs ms', async ({ turnMs, restMs }) => {
  const clock = createVirtualClock();
  const process = new SimulatedProcess(clock);
  const spareCpu = new SpareCpu(process.clock);
  spareCpu.measure();
  spareCpu.measure();
  expect(spareCpu.restMs()).toBe(0);
  for (let count = 0; count < 4; count += 1) {
    process.suspend();
    await clock.advance(turnMs);
    await process.resume();
  }
  await clock.advance(0);
  expect(clock.pending).toBe(0);
  expect(spareCpu.restMs()).toBe(restMs);
  await clock.advance(2_000);
  expect(spareCpu.restMs()).toBe(0);
});
