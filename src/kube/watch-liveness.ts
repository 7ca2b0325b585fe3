import { ApiError } from '../domain/index.ts';
import type { Clock } from '../ports/index.ts';
import { bookmarkSilenceMs } from './watch.ts';
import type { WatchRegistry } from './watch-registry.ts';

/** A watch on which bookmarks come has missed one when it is silent for so long. */
const overdueMs = 70_000;

/** When the server was last heard on one watch, over all of its connections. */
export interface WatchLiveness {
  /** The server has accepted the watch. */
  opened(): void;
  /** Something came of the watch, or of its list. */
  readonly heard: () => void;
  /** A bookmark came. */
  bookmark(): void;
  /** The stream, if there was one, is over. Returns how long it was open, in milliseconds. */
  ended(failure: Error | undefined): number;
  /** Milliseconds since the last byte, or since the server ended or broke the stream. */
  readonly ageMs: () => number;
  /** For how many seconds nothing was heard, in words; undefined unless that is too long. */
  silence(): string | undefined;
}

export interface WatchLivenessOptions {
  readonly clock: Clock;
  readonly registry: WatchRegistry;
  readonly resource: string;
}

export const createWatchLiveness = ({
  clock,
  registry: { bookmarked },
  resource,
}: WatchLivenessOptions): WatchLiveness => {
  let openedAt: number | undefined;
  let heardAt = clock.monotonic();
  const heard = (): void => {
    heardAt = clock.monotonic();
  };
  const ageMs = (): number => clock.monotonic() - heardAt;
  return {
    opened: () => {
      openedAt = clock.monotonic();
      heard();
    },
    heard,
    bookmark: () => void bookmarked.add(resource),
    ended: (failure) => {
      if (openedAt === undefined) return 0;
      const openMs = clock.monotonic() - openedAt;
      openedAt = undefined;
      // The end of a stream is heard, too; that we lose patience is not.
      if (!(failure instanceof ApiError && failure.code === 'Timeout')) heard();
      return openMs;
    },
    ageMs,
    silence: () => {
      const isOpen = openedAt !== undefined;
      // Where no bookmarks come, an open watch may say nothing for long.
      const mayLastMs = isOpen ? (bookmarked.has(resource) ? overdueMs : Number.POSITIVE_INFINITY) : bookmarkSilenceMs;
      return ageMs() > mayLastMs
        ? `nothing heard of the watch for ${String(Math.round(ageMs() / 1_000))} s`
        : undefined;
    },
  };
};
