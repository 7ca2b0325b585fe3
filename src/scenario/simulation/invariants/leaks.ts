import { stateless } from './invariant.ts';

/** Who ends lets go of everything, and once all has stopped nothing is left. */
export const leaks = stateless('nothing leaks', (event, { truth }) => {
  if (event.kind === 'process') {
    const { life, held = 0 } = event;
    // The time for a stop is limited: what a server leaves without an answer is not waited for.
    return held === 0 || truth.faults.length > 0
      ? undefined
      : `process ${life} ended with ${String(held)} timers and requests`;
  }
  if (event.kind !== 'over') return undefined;
  const { timers, exchanges, processes, rememberedShoots } = event.leftovers;
  if (timers > 0) return `${String(timers)} timers are left`;
  if (exchanges > 0) return `${String(exchanges)} requests are left`;
  if (processes > 0) return `${String(processes)} processes did not end`;
  if (rememberedShoots.length > 0) return `metrics remember shoots that are gone: ${rememberedShoots.join(', ')}`;
  return undefined;
});
