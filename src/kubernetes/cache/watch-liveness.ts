import type { Clock } from '../../ports/clock.ts';
import type { WatchRegistry } from './watch-registry.ts';
import { WatchSilentError, bookmarkSilenceMs } from './watch.ts';

/** A watch on which bookmarks come has missed one when it is silent for so long. */
const overdueMs = 70_000;

export interface WatchEnd {
  /** How long the stream was open, in milliseconds. */
  readonly openMs: number;
  /** We gave up a silent stream that had shown no bookmark yet: it may have been as good as any. */
  readonly isPrecaution: boolean;
}

/** When the server was last heard on one watch, over all of its connections. */
export interface WatchLiveness {
  /** The server has accepted the watch. */
  opened(): void;
  /** Something came of the watch, or of its list. */
  readonly heard: () => void;
  /** A bookmark came. */
  bookmark(): void;
  /** The stream, if there was one, is over. */
  ended(failure: Error | undefined): WatchEnd;
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
  /** The stream that is open. */
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
      // The end of a stream is heard, too; that we lose patience is not.
      if (!isSilence) heard();
      const isPrecaution = isSilence && !ended.hasBookmark && bookmarked.has(resource);
      return { openMs: clock.monotonic() - ended.openedAt, isPrecaution };
    },
    ageMs,
    silence: () => {
      // A stream on which no bookmark has come yet may say nothing for long.
      const ofStreamMs = stream?.hasBookmark === true ? overdueMs : Number.POSITIVE_INFINITY;
      const mayLastMs = stream === undefined ? bookmarkSilenceMs : ofStreamMs;
      return ageMs() > mayLastMs
        ? `nothing heard of the watch for ${String(Math.round(ageMs() / 1_000))} s`
        : undefined;
    },
  };
};
