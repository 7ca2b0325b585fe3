import type { Clock } from '../ports/clock.ts';
import { type HttpResponse, textResponse } from './http-server.ts';

/** Time in milliseconds between the end of a build and the start of the next one of the same response. */
const pauseMs = 1_000;
/** Maximum number of different responses that are asked for within that time. */
const mostKeys = 16;

/** A response that is awaited, or the instant at which its build ended. */
type Build = { readonly awaited: Promise<HttpResponse> } | { readonly endedAt: number };

/**
 * Shares responses that are dear to build. Each is built at most once a second, by its key, and whoever asks meanwhile gets the next one: so all who ask in a
 * second cost as much as one. One is built at a time. `build` should give way to other work when it takes long.
 */
export const shareResponses = <Key>(
  clock: Clock,
  build: (key: Key) => HttpResponse | Promise<HttpResponse>,
): ((key: Key) => Promise<HttpResponse>) => {
  const builds = new Map<Key, Build>();
  let last: Promise<unknown> = Promise.resolve();
  const start = async (key: Key, afterMs: number): Promise<HttpResponse> => {
    if (afterMs > 0) await new Promise<void>((resolve) => clock.timer(afterMs, resolve));
    const building = last.then(() => build(key));
    last = building.catch(() => undefined);
    try {
      return await building;
    } finally {
      builds.set(key, { endedAt: clock.monotonic() });
    }
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
    const awaited = start(key, known === undefined ? 0 : known.endedAt + pauseMs - now);
    builds.set(key, { awaited });
    return awaited;
  };
};
