import { expect, it } from 'vitest';
import { createFakeClock } from '../../../test/doubles/fake-clock.ts';
import { createMachine } from '../../../test/leader-election/machine.ts';
import { measureHoldUp } from './hold-up.ts';

it('measures for how long the process did not run, also before a timer has fired late', async () => {
  const clock = createFakeClock();
  const machine = createMachine({ clock });
  const holdUp = measureHoldUp(machine.clock);
  await clock.advance(60_000);
  expect(holdUp.ms()).toBe(0);
  await clock.advance(100);
  machine.suspend();
  await clock.advance(1_000);
  // The next pulse was due 150 ms after the beginning.
  expect(holdUp.ms()).toBe(850);
  await machine.resume();
  expect(holdUp.ms()).toBe(850);
  await clock.advance(60_000);
  expect(holdUp.ms()).toBe(850);
  holdUp.end();
  holdUp.end();
  await clock.advance(60_000);
  expect(holdUp.ms()).toBe(850);
  expect(clock.pending).toBe(0);
});
