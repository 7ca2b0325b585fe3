import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';

/**
 * A clock that only the test advances: `advance(ms)` fires the timers that become due and, between them, runs all pending promises;
 * `settle()` runs pending promises without advancing the time.
 */
export type FakeClock = VirtualClock;

export const createFakeClock = (): FakeClock => createVirtualClock();
