import { useEffect, useState } from 'preact/hooks';
import type { ShootStatus } from '../../status/state/schema.ts';
import { type FeedEvents, type PageSample, type SeedView, seedAfter } from '../feed/index.ts';

/** Age in milliseconds of the last message from which the page is shown as old. The server sends a message every second. */
const lateMs = 5_000;
const reopenMs = 2_000;
/** Number of samples in an hour, one every five seconds. */
const mostSamples = 720;

type Listeners = { readonly [Name in keyof FeedEvents]?: (data: FeedEvents[Name]) => void };

/** Opens an event stream that reconnects by itself. Returns a function that closes it. */
const openStream = (address: string, listeners: Listeners): (() => void) => {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = (): void => {
    source = new EventSource(address);
    for (const [name, listener] of Object.entries(listeners)) {
      source.addEventListener(name, ({ data }: MessageEvent<string>) =>
        (listener as (data: unknown) => void)(JSON.parse(data)),
      );
    }
    source.addEventListener('error', () => {
      // The browser reconnects by itself, except after a response that is not an event stream.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, reopenMs);
    });
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
};

export interface Seed {
  readonly view: SeedView;
  readonly samples: readonly PageSample[];
  /** Time of the last message, on the clock of `performance.now()`. */
  readonly receivedAt: number;
}

/** Returns the seed and keeps it up to date; undefined until the first message. */
export const useSeed = (): Seed | undefined => {
  const [seed, setSeed] = useState<Seed>();
  useEffect(
    () =>
      openStream('events', {
        seed: (message) =>
          setSeed((before) => {
            const view = seedAfter(before?.view, message);
            return view && { samples: [], ...before, view, receivedAt: performance.now() };
          }),
        samples: (added) => setSeed((before) => before && { ...before, samples: joined(before.samples, added) }),
      }),
    [],
  );
  return seed;
};

const joined = (before: readonly PageSample[], added: readonly PageSample[]): readonly PageSample[] => {
  const from = added[0]?.at ?? Number.POSITIVE_INFINITY;
  return [...before.filter(({ at }) => at < from), ...added].slice(-mostSamples);
};

/** Returns one shoot with its details and keeps it up to date; undefined until the details arrive, null if there is no such shoot. */
export const useShoot = (namespace: string | undefined): ShootStatus | null | undefined => {
  const [shoot, setShoot] = useState<ShootStatus | null>();
  useEffect(() => {
    setShoot(undefined);
    if (namespace === undefined) return undefined;
    return openStream(`events?shoot=${encodeURIComponent(namespace)}`, { shoot: setShoot });
  }, [namespace]);
  return shoot;
};

/** Renders again every second. Returns the time of `performance.now()`. */
export const useTick = (): number => {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
};

/** Returns the server's time in milliseconds since the epoch, because the browser's clock may be wrong. It stops when the data is old: no age grows on. */
export const serverTime = ({ view, receivedAt }: Seed, now: number): number =>
  Date.parse(view.status.at) + Math.max(0, Math.min(lateMs, now - receivedAt));

/** Returns the age of the shown data in milliseconds if it is old; otherwise undefined. */
export const oldness = ({ receivedAt }: Seed, now: number): number | undefined =>
  now - receivedAt > lateMs ? now - receivedAt : undefined;
