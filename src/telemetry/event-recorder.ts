import { ApiError, type Call } from '../domain/index.ts';
import type { Clock, EventRecorder, KubeClient, Logger, Random, RecordedEvent } from '../ports/index.ts';

export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** `source.component` of the Events, such as `dependency-watchdog-prober`. */
  readonly component: string;
}

/** Events waiting beyond this are dropped: when a whole seed fails, the log tells the story. */
const mostWaiting = 1_000;
const timeoutMs = 10_000;
const longestMessage = 1_024;

/** The API server answers 403 as well when the namespace is going: that is no missing right (`NamespaceTerminating`). */
const isMissingRight = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'Forbidden' && !error.message.includes('being terminated');

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const hex = (random: Random): string =>
  Math.floor(random.next() * 2 ** 48)
    .toString(16)
    .padStart(12, '0');

/** `v1` Event, as client-go's recorder writes it for a first occurrence. */
const createEvent = (event: RecordedEvent, { clock, random, component }: EventRecorderOptions): Call<undefined> => {
  const { regarding, type, reason, message } = event;
  const { namespace, name } = regarding;
  const at = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    method: 'POST',
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`,
    contentType: 'application/json',
    body: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}.${hex(random)}`, namespace },
      involvedObject: regarding,
      type,
      reason,
      message: message.slice(0, longestMessage),
      source: { component },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    },
    decode: () => undefined,
  };
};

export interface RunningEventRecorder extends EventRecorder {
  /** Drops what waits and ends what is under way. */
  stop(): void;
}

/**
 * Writes Events one after the other, so that they never stand in the way of requests that matter. A missing right is said once, and Events
 * are left out from then on.
 */
export const createEventRecorder = (options: EventRecorderOptions): RunningEventRecorder => {
  const { client, logger } = options;
  const stop = new AbortController();
  const waiting: RecordedEvent[] = [];
  let sending = false;
  let isForbidden = false;

  const send = async (event: RecordedEvent): Promise<void> => {
    try {
      await client.call(createEvent(event, options), { signal: stop.signal, timeoutMs });
    } catch (error) {
      if (stop.signal.aborted) return;
      if (isMissingRight(error)) {
        isForbidden = true;
        waiting.length = 0;
        logger.warn('no right to write Events in shoot namespaces: they are left out', { problem: messageOf(error) });
      } else {
        logger.debug('an Event was not written', { problem: messageOf(error) });
      }
    }
  };

  const sendAll = async (): Promise<void> => {
    sending = true;
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) await send(event);
    sending = false;
  };

  return {
    record: (event) => {
      if (isForbidden || stop.signal.aborted || waiting.length >= mostWaiting) return;
      waiting.push(event);
      if (!sending) void sendAll();
    },
    stop: () => {
      waiting.length = 0;
      stop.abort(new Error('the program is stopping'));
    },
  };
};
