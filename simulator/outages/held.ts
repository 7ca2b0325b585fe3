import type { VirtualClock } from '../time/index.ts';
import type { World } from '../world/index.ts';
import type { Held } from './history.ts';
import type { PlannedWatchdog } from './watchdogs.ts';

/** Requests come and go, of the election above all: what is there at every one of these instants is held. */
const samples = 5;
const betweenMs = 700;

/** Of shoots and of what is done for them. */
const counted = /^(?:dwd_prober_probers|dwd_weeder_weedings)[{ ]/;

/** Read from the objects at each scrape: a shoot that is gone may have left some held, and a leader tells so. */
const readFromObjects = 'dwd_prober_held_unprobed{';

/** What a process holds that has nothing to do; moves the clock. */
export const heldBy = async (
  { machine, meter }: PlannedWatchdog,
  { world, clock }: { readonly world: World; readonly clock: VirtualClock },
): Promise<Held> => {
  let [timers, requests] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let count = 0; count < samples; count += 1) {
    const held = machine.holds();
    timers = Math.min(timers, held.timers);
    requests = Math.min(requests, held.requests);
    await clock.advance(betweenMs);
  }
  const lines = (await meter.metricsText()).split('\n');
  const remembering = lines.filter((line) => !line.startsWith(readFromObjects));
  const gone = world.shoots.filter(({ cluster }) => remembering.some((line) => line.includes(`"${cluster}"`)));
  return {
    timers,
    requests,
    counted: lines.filter((line) => counted.test(line) && !line.endsWith(' 0')),
    rememberedShoots: gone.map(({ name }) => name),
  };
};
