import type { VirtualClock } from '../time/index.ts';
import type { World } from '../world/index.ts';
import type { ProcessRemains } from './history.ts';
import type { PlannedWatchdog } from './watchdogs.ts';

/** Number of samples. Requests come and go, above all those of the election, so only the minimum of all samples counts as held. */
const samples = 5;
const betweenMs = 700;

/** Matches the metrics that count probers and weedings. */
const counted = /^(?:dwd_prober_probers|dwd_weeder_weedings)[{ ]/;

/** Metric that each scrape reads from the objects: it may mention a deleted shoot whose resources are still held. */
const readFromObjects = 'dwd_prober_held_unprobed{';

/** Returns the remains of shoots or weedings in an idle process. Moves the clock. */
export const remainsOf = async (
  { process: machine, meter }: PlannedWatchdog,
  { world, clock }: { readonly world: World; readonly clock: VirtualClock },
): Promise<ProcessRemains> => {
  let [timers, requests] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let count = 0; count < samples; count += 1) {
    const held = machine.holds();
    timers = Math.min(timers, held.timers);
    requests = Math.min(requests, held.requests);
    await clock.advance(betweenMs);
  }
  const lines = (await meter.metricsText()).split('\n');
  const remembering = lines.filter((line) => !line.startsWith(readFromObjects));
  const gone = world.shoots.filter(({ namespace }) => remembering.some((line) => line.includes(`"${namespace}"`)));
  return {
    timers,
    requests,
    counted: lines.filter((line) => counted.test(line) && !line.endsWith(' 0')),
    rememberedShoots: gone.map(({ name }) => name),
  };
};
