import { type VirtualClock, createVirtualClock } from '../../simulator/time/clock.ts';

/**
 * A clock that moves only when the test says so: `advance(ms)` fires what falls due on the way and lets everything runnable run
 * between the timers; `settle()` lets it run without moving on.
 */
export type FakeClock = VirtualClock;

export const createFakeClock = (): FakeClock => createVirtualClock();
