import { useEffect, useState } from 'preact/hooks';
import type { ProbedShoot } from '../../prober/status/schema.ts';
import { type FeedEvents, type PageSample, type SeedView, seedAfter } from '../feed/index.ts';

/** As long as a message may be late, in milliseconds, before what is shown is called old: the server sends one every second. */
const lateMs = 5_000;
const reopenMs = 2_000;
/** An hour, a sample every five seconds. */
const mostSamples = 720;

type Listeners = { readonly [Name in keyof FeedEvents]?: (data: FeedEvents[Name]) => void };

/** Opens an event stream that comes back by itself. Returns what closes it. */
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
      // The browser tries again by itself, except after an answer that is no stream.
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
  /** Of `performance.now()`. */
  readonly receivedAt: number;
}

/** The seed, live. Undefined until the first message. */
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

/** One shoot with its details, live: undefined until they are there, null if there is no such shoot. */
export const useShoot = (namespace: string | undefined): ProbedShoot | null | undefined => {
  const [shoot, setShoot] = useState<ProbedShoot | null>();
  useEffect(() => {
    setShoot(undefined);
    if (namespace === undefined) return undefined;
    return openStream(`events?shoot=${encodeURIComponent(namespace)}`, { shoot: setShoot });
  }, [namespace]);
  return shoot;
};

/** Renders again every second. Of `performance.now()`. */
export const useTick = (): number => {
  const [now, setNow] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
};

/** The time at the server, in milliseconds since the epoch: the browser's clock may be wrong. */
export const serverTime = ({ view, receivedAt }: Seed, now: number): number =>
  Date.parse(view.status.at) + Math.max(0, now - receivedAt);

/** How old what is shown is, in milliseconds, if it is older than it should be. */
export const oldness = ({ receivedAt }: Seed, now: number): number | undefined =>
  now - receivedAt > lateMs ? now - receivedAt : undefined;
