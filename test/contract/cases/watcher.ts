import type { Kube } from '../../../src/kubernetes/api/kube.ts';
import { splitLines } from '../../../src/kubernetes/cache/lines.ts';
import type { Json } from './json.ts';

export interface RawWatchEvent {
  readonly type: string;
  readonly object: Json;
}

export interface WatchReader {
  readonly status: number;
  /** Returns the next event, or undefined after the end of the stream. Fails if none arrives in time. */
  next(): Promise<RawWatchEvent | undefined>;
  /** Returns the next `count` events. */
  take(count: number): Promise<readonly RawWatchEvent[]>;
  /** Returns all events until the end of the stream. */
  rest(): Promise<readonly RawWatchEvent[]>;
  close(): Promise<void>;
}

/** Longer than any case has to wait for an event, or for the end of a stream. */
const patienceMs = 90_000;

export const openWatch = async (
  kube: Kube,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<WatchReader> => {
  const controller = new AbortController();
  const { signal } = controller;
  const response = await kube.request({
    method: 'GET',
    path,
    query: { watch: 'true', ...query },
    headers: { accept: 'application/json' },
    signal,
    timeoutMs: patienceMs,
  });
  const lines = splitLines(response.body, Infinity);

  const next = async (): Promise<RawWatchEvent | undefined> => {
    const line = await lines.next();
    return line.done === true ? undefined : (JSON.parse(line.value.toString()) as RawWatchEvent);
  };

  return {
    status: response.status,
    next,
    async take(count) {
      const events: RawWatchEvent[] = [];
      while (events.length < count) {
        const event = await next();
        if (event === undefined) throw new Error(`the watch ended after ${events.length} of ${count} events`);
        events.push(event);
      }
      return events;
    },
    async rest() {
      const events: RawWatchEvent[] = [];
      for (let event = await next(); event !== undefined; event = await next()) events.push(event);
      return events;
    },
    async close() {
      controller.abort(new Error('the case has seen enough'));
      await lines.return(undefined).catch(() => undefined);
    },
  };
};

/** `ADDED a`, `MODIFIED a`...: the events of a watch, by type and name. Bookmarks and errors have no name. */
export const story = (events: readonly RawWatchEvent[]): readonly string[] =>
  events.map(({ type, object }) =>
    type === 'BOOKMARK' || type === 'ERROR' ? type : `${type} ${object.metadata.name}`,
  );
