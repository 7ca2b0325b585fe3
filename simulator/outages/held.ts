import type { VirtualClock } from '../time/index.ts';
import type { World } from '../world/index.ts';
import type { Held } from './history.ts';
import type { Watchdog } from './watchdogs.ts';

/** Requests come and go, of the election above all: what is there at every one of these instants is held. */
const samples = 5;
const betweenMs = 700;

/** Of shoots and of what is done for them. */
const counted = /^(?:dwd_prober_probers|dwd_weeder_weedings)[{ ]/;

/** What a process holds that has nothing to do; moves the clock. */
export const heldBy = async (
  { machine, meter }: Watchdog,
  { world, clock }: { readonly world: World; readonly clock: VirtualClock },
): Promise<Held> => {
  let [timers, requests] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let count = 0; count < samples; count += 1) {
    const held = machine.holds();
    timers = Math.min(timers, held.timers);
    requests = Math.min(requests, held.requests);
    await clock.advance(betweenMs);
  }
  const text = await meter.metricsText();
  const gone = world.shoots.filter(({ cluster }) => text.includes(`"${cluster}"`));
  return {
    timers,
    requests,
    counted: text.split('\n').filter((line) => counted.test(line) && !line.endsWith(' 0')),
    rememberedShoots: gone.map(({ name }) => name),
  };
};
