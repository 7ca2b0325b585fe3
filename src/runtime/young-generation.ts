import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import type { Clock } from '../ports/index.ts';

/** Bytes up to which it may grow: 2 to 4 MB in each half keep most of a probe's garbage out of the old generation. */
const enough = 8 * 1024 * 1024;
const lookEveryMs = 1_000;

/** V8's space for new objects, which it doubles as it sees fit, up to 128 MB on 64 bits, and hardly ever gives back. */
export interface YoungGeneration {
  /** Bytes of both its halves. */
  readonly size: () => number;
  readonly mayGrow: (allowed: boolean) => void;
}

export const youngGeneration: YoungGeneration = {
  size: () => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0,
  // V8 has read `--max-semi-space-size` when the process started; this flag it reads each time that it is about to grow.
  mayGrow: (allowed) => setFlagsFromString(`--semi-space-growth-factor=${allowed ? '2' : '1'}`),
};

/** Keeps it small, as `--max-semi-space-size` would, however the process was started (docs/adr/0011-memory.md). Returns what ends that. */
export const boundYoungGeneration = (clock: Clock, young: YoungGeneration = youngGeneration): (() => void) => {
  let cancel: () => void = () => undefined;
  let allowed: boolean | undefined;
  const look = (): void => {
    const isSmall = young.size() < enough;
    // Only when it changes: a V8 that does not know the flag says so on stderr each time.
    if (isSmall !== allowed) young.mayGrow(isSmall);
    allowed = isSmall;
    cancel = clock.timer(lookEveryMs, look);
  };
  look();
  return () => cancel();
};
