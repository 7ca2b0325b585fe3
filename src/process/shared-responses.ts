import type { Clock } from '../ports/clock.ts';
import { type HttpResponse, textResponse } from './http-server.ts';

/** Least time in milliseconds between the end of a build and the start of the next one of the same response. */
const pauseMs = 1_000;
/** After a build, the next one of any response waits this many times as long as it took, up to the limit in milliseconds. */
const [restFactor, longestRestMs] = [20, 5_000];
/** Maximum number of different responses that are asked for within the pause. */
const mostKeys = 16;

/** A response that is awaited, or the instant at which its build ended. */
type Build = { readonly awaited: Promise<HttpResponse> } | { readonly endedAt: number };

/**
 * Shares responses that are dear to build. Each is built at most once a second, by its key, and whoever asks meanwhile gets the next one: so all who ask in a
 * second cost as much as one. One is built at a time, and building takes at most a twentieth of the time, unless it takes more than a quarter of a second.
 * `build` should give way to other work when it takes long.
 */
export const shareResponses = <Key>(
  clock: Clock,
  build: (key: Key) => HttpResponse | Promise<HttpResponse>,
): ((key: Key) => Promise<HttpResponse>) => {
  const builds = new Map<Key, Build>();
  let restsUntil = Number.NEGATIVE_INFINITY;
  let last: Promise<unknown> = Promise.resolve();
  const sleepUntil = async (at: number): Promise<void> => {
    const ms = at - clock.monotonic();
    if (ms > 0) await new Promise<void>((resolve) => clock.timer(ms, resolve));
  };
  const buildInTurn = async (key: Key): Promise<HttpResponse> => {
    await sleepUntil(restsUntil);
    const startedAt = clock.monotonic();
    try {
      return await build(key);
    } finally {
      const endedAt = clock.monotonic();
      restsUntil = endedAt + Math.min(restFactor * (endedAt - startedAt), longestRestMs);
      builds.set(key, { endedAt });
    }
  };
  const start = async (key: Key, earliest: number): Promise<HttpResponse> => {
    await sleepUntil(earliest);
    const building = last.then(() => buildInTurn(key));
    last = building.catch(() => undefined);
    return building;
  };
  return async (key) => {
    const now = clock.monotonic();
    for (const [known, one] of builds) {
      if ('endedAt' in one && now - one.endedAt >= pauseMs) builds.delete(known);
    }
    const known = builds.get(key);
    if (known !== undefined && 'awaited' in known) return known.awaited;
    if (known === undefined && builds.size >= mostKeys) {
      return textResponse(503, 'too many different requests; ask again in a second', { 'Retry-After': '1' });
    }
    const awaited = start(key, known === undefined ? now : known.endedAt + pauseMs);
    builds.set(key, { awaited });
    return awaited;
  };
};
