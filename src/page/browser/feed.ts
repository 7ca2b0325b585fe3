import { useEffect, useState } from 'preact/hooks';
import type { PageView } from '../feed/index.ts';

/** Time between two requests in milliseconds, as of `dwd status --watch`. */
const pauseMs = 2_000;
/** Age in milliseconds of the last answer from which the page is shown as old. A busy server answers every five seconds. */
const lateMs = 10_000;

export interface Seed {
  readonly view: PageView;
  /** Time of the answer, on the clock of `performance.now()`. */
  readonly receivedAt: number;
}

const ask = async (shoot: string | undefined, stop: AbortSignal): Promise<PageView | undefined> => {
  const address = shoot === undefined ? 'view' : `view?shoot=${encodeURIComponent(shoot)}`;
  const answer = await fetch(address, { signal: AbortSignal.any([stop, AbortSignal.timeout(lateMs)]) });
  return answer.ok ? ((await answer.json()) as PageView) : undefined;
};

/** Returns the seed, with the details of a shoot, and keeps both up to date; undefined until the first answer. */
export const useSeed = (shoot: string | undefined): Seed | undefined => {
  const [seed, setSeed] = useState<Seed>();
  useEffect(() => {
    const stop = new AbortController();
    const follow = async (): Promise<void> => {
      // Without an answer the last one stays, and grows old.
      const view = await ask(shoot, stop.signal).catch(() => undefined);
      if (stop.signal.aborted) return;
      if (view !== undefined) setSeed({ view, receivedAt: performance.now() });
      setTimeout(() => void follow(), pauseMs);
    };
    void follow();
    return () => stop.abort();
  }, [shoot]);
  return seed;
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
