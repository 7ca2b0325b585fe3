import type { WireFault } from './fault.ts';

const tenMinutesMs = 600_000;
const differs = /clock and ours differ/;

const judged = { result: 'healthy', blinds: false } as const;

/** A watchdog whose wall clock is wrong from its start. */
const wrongFromStart = (name: string, shiftMs: number): WireFault => ({
  name,
  ...judged,
  says: differs,
  start: async ({ watchdog }) => {
    await watchdog.kill();
    watchdog.shiftClock(shiftMs);
    await watchdog.start();
    return () => undefined;
  },
});

/** A watchdog that is down while the fault lasts and then starts with a wrong clock: during an outage, if there is one. */
const wrongAfterwards = (name: string, shiftMs: number): WireFault => ({
  name,
  result: undefined,
  blinds: true,
  start: async ({ watchdog }) => {
    await watchdog.kill();
    watchdog.shiftClock(shiftMs);
    return () => watchdog.start();
  },
});

/** A watchdog whose clock jumps while it runs, and jumps back. */
const jumping = (name: string, shiftMs: number): WireFault => ({
  name,
  ...judged,
  says: differs,
  start: async ({ watchdog }) => {
    watchdog.shiftClock(shiftMs);
    return () => watchdog.shiftClock(0);
  },
});

/** Faults of the watchdog's clock. Each needs its own watchdog. */
export const watchdogClockFaults: readonly WireFault[] = [
  wrongFromStart('clock-fast', tenMinutesMs),
  wrongFromStart('clock-slow', -tenMinutesMs),
  wrongAfterwards('clock-fast-in-outage', tenMinutesMs),
  wrongAfterwards('clock-slow-in-outage', -tenMinutesMs),
  jumping('clock-jumps-forward', tenMinutesMs),
  jumping('clock-jumps-back', -tenMinutesMs),
];

/** A wrong clock of the API server, which clients see in the Date header. */
const inDateHeader = (name: string, shiftMs: number): WireFault => ({
  name,
  ...judged,
  says: differs,
  start: async ({ front }) => {
    front.intercept(async (_, ask) => {
      const whole = await ask();
      const date = new Date(Date.now() + shiftMs).toUTCString();
      return { ...whole, headers: { ...whole.headers, date } };
    });
    return () => front.intercept(undefined);
  },
});

/** Nodes whose clocks were always wrong. */
const inLeases = (name: string, nodes: 'fast' | 'slow'): WireFault => ({
  name,
  ...judged,
  nodes,
  start: async () => () => undefined,
});

/** Error of the nodes' clocks, in milliseconds. */
export const nodeClockShiftMs = { right: 0, fast: tenMinutesMs, slow: -tenMinutesMs } as const;

export const otherClockFaults: readonly WireFault[] = [
  inDateHeader('api-server-clock-fast', tenMinutesMs),
  inDateHeader('api-server-clock-slow', -tenMinutesMs),
  inLeases('node-clocks-fast', 'fast'),
  inLeases('node-clocks-slow', 'slow'),
];
