import type { WireFault } from './fault.ts';

const tenMinutesMs = 600_000;
const differs = /clock and ours differ/;

const judged = { result: 'healthy', blinds: false } as const;

/** A wall clock of the watchdog that is wrong from its start. */
const wrongFromStart = (name: string, shiftMs: number): WireFault => ({
  name,
  ...judged,
  says: differs,
  inflict: async ({ watchdog }) => {
    await watchdog.kill();
    watchdog.shiftClock(shiftMs);
    await watchdog.start();
    return () => undefined;
  },
});

/** One of a watchdog that is away while the fault lasts, and comes back with a wrong clock: into an outage, if there is one. */
const wrongAfterwards = (name: string, shiftMs: number): WireFault => ({
  name,
  result: undefined,
  blinds: true,
  inflict: async ({ watchdog }) => {
    await watchdog.kill();
    watchdog.shiftClock(shiftMs);
    return () => watchdog.start();
  },
});

/** One that jumps while it runs, and back. */
const jumping = (name: string, shiftMs: number): WireFault => ({
  name,
  ...judged,
  says: differs,
  inflict: async ({ watchdog }) => {
    watchdog.shiftClock(shiftMs);
    return () => watchdog.shiftClock(0);
  },
});

/** For a watchdog each. */
export const watchdogClockFaults: readonly WireFault[] = [
  wrongFromStart('clock-fast', tenMinutesMs),
  wrongFromStart('clock-slow', -tenMinutesMs),
  wrongAfterwards('clock-fast-in-outage', tenMinutesMs),
  wrongAfterwards('clock-slow-in-outage', -tenMinutesMs),
  jumping('clock-jumps-forward', tenMinutesMs),
  jumping('clock-jumps-back', -tenMinutesMs),
];

/** As far as a client sees that clock. */
const inDateHeader = (name: string, shiftMs: number): WireFault => ({
  name,
  ...judged,
  says: differs,
  inflict: async ({ front }) => {
    front.meddle(async (_, ask) => {
      const whole = await ask();
      const date = new Date(Date.now() + shiftMs).toUTCString();
      return { ...whole, headers: { ...whole.headers, date } };
    });
    return () => front.meddle(undefined);
  },
});

/** Of nodes that never had another clock. */
const inLeases = (name: string, nodes: 'fast' | 'slow'): WireFault => ({
  name,
  ...judged,
  nodes,
  inflict: async () => () => undefined,
});

/** How far the clocks of nodes are wrong. */
export const nodeClockShiftMs = { right: 0, fast: tenMinutesMs, slow: -tenMinutesMs } as const;

export const otherClockFaults: readonly WireFault[] = [
  inDateHeader('api-server-clock-fast', tenMinutesMs),
  inDateHeader('api-server-clock-slow', -tenMinutesMs),
  inLeases('node-clocks-fast', 'fast'),
  inLeases('node-clocks-slow', 'slow'),
];
