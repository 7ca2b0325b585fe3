import type { Clock } from '../../ports/clock.ts';
import type { WatchRegistry } from './watch-registry.ts';
import { WatchSilentError, bookmarkSilenceMs } from './watch.ts';

/** A watch that receives bookmarks has missed one after this much silence. */
const overdueMs = 70_000;

export interface WatchEnd {
  /** Time for which the stream was open, in milliseconds. */
  readonly openMs: number;
  /** True if we gave up a silent stream that had not received a bookmark yet: it may have been healthy. */
  readonly isPrecaution: boolean;
}

/** Tracks when the server last sent something on one watch, over all connections of that watch. */
export interface WatchLiveness {
  /** Called when the server has accepted the watch. */
  opened(): void;
  /** Called when bytes of the watch, or its list, arrived. */
  readonly heard: () => void;
  /** Called when a bookmark arrived. */
  bookmark(): void;
  /** Called when a list and watch attempt has ended, and with it its stream if there was one. */
  ended(failure: Error | undefined): WatchEnd;
  /** Returns the milliseconds since the last byte, or since the server ended or broke the stream. */
  readonly ageMs: () => number;
  /** Returns a message with the seconds since the last byte if that is too long, else undefined. */
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
  /** The open stream. */
  let stream: { readonly openedAt: number; hasBookmark: boolean } | undefined;
  let heardAt = clock.monotonic();
  const heard = (): void => {
    heardAt = clock.monotonic();
  };
  const ageMs = (): number => clock.monotonic() - heardAt;
  return {
    opened: () => {
      stream = { openedAt: clock.monotonic(), hasBookmark: false };
      heard();
    },
    heard,
    bookmark: () => {
      bookmarked.add(resource);
      if (stream !== undefined) stream.hasBookmark = true;
    },
    ended: (failure) => {
      const ended = stream;
      stream = undefined;
      if (ended === undefined) return { openMs: 0, isPrecaution: false };
      const isSilence = failure instanceof WatchSilentError;
      // The end of a stream is a sign of life of the server, unless our own timeout ended it.
      if (!isSilence) heard();
      const isPrecaution = isSilence && !ended.hasBookmark && bookmarked.has(resource);
      return { openMs: clock.monotonic() - ended.openedAt, isPrecaution };
    },
    ageMs,
    silence: () => {
      // A stream may be silent for long before its first bookmark.
      const ofStreamMs = stream?.hasBookmark === true ? overdueMs : Number.POSITIVE_INFINITY;
      const mayLastMs = stream === undefined ? bookmarkSilenceMs : ofStreamMs;
      return ageMs() > mayLastMs
        ? `nothing heard of the watch for ${String(Math.round(ageMs() / 1_000))} s`
        : undefined;
    },
  };
};
