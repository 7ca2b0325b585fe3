import type { Call } from '../kubernetes/api/call.ts';
import { ApiError, errorText, isApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Counter, Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { escapeControlsInLines } from './escape-controls.ts';
import type { EventRecorder, RecordedEvent } from './events.ts';
import { SpareCpu } from './spare-cpu.ts';

export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  /** `source.component` of the Events, such as `dependency-watchdog-prober`. */
  readonly component: string;
}

/** A whole seed of a thousand shoots, a few kB each; what comes on top is dropped: then the log tells the story. */
const mostWaiting = 5_000;
/** No more than these stand before a request that matters in the line of ordinary priority. */
const mostInFlight = 4;
const timeoutMs = 10_000;
/** An Event that cannot be written now is tried again, as client-go's recorder does (`tools/record/event.go`, 12 times there). */
const mostAttempts = 3;
const retryMs = 10_000;
const longestMessage = 1_024;

/** The API server answers 403 as well when the namespace is going: that is no missing right (`NamespaceTerminating`). */
const isMissingRight = (error: unknown): boolean =>
  isApiError(error, 'Forbidden') && !errorText(error).includes('being terminated');

const mayHeal = (error: unknown): boolean =>
  error instanceof ApiError && (error.handling === 'retry' || error.handling === 'wait');

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
    path: resourcePath({ apiVersion: 'v1', resource: 'events', namespace }),
    contentType: 'application/json',
    // Its name makes a second one AlreadyExists.
    repeatable: true,
    body: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}.${hex(random)}`, namespace },
      involvedObject: regarding,
      type,
      reason,
      // kubectl shows it as it is.
      message: escapeControlsInLines(message).slice(0, longestMessage),
      source: { component },
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    },
    decode: () => undefined,
  };
};

export interface RunningEventRecorder extends EventRecorder {
  /** Resolves when all that was recorded is written or given up, and after `timeoutMs` at the latest. Never rejects. */
  flush(timeoutMs: number): Promise<void>;
  /** Drops what waits and ends what is under way. */
  stop(): void;
}

/**
 * Writes Events a few at a time, with ordinary priority, and fewer while the process is short of CPU, so that they never stand in the way of requests that matter. A missing right is
 * logged once, and Events are left out from then on; until one was written they go one by one, so that it costs a single request.
 */
class WritingEventRecorder implements RunningEventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #dropped: Counter;
  readonly #stop = new AbortController();
  readonly #waiting: Call<undefined>[] = [];
  readonly #spareCpu: SpareCpu;
  #cancelRest: (() => void) | undefined;
  #onIdle: () => void = () => undefined;
  #inFlight = 0;
  #right: 'unknown' | 'given' | 'missing' = 'unknown';

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#spareCpu = new SpareCpu(options.clock);
    this.#dropped = options.meter.counter({
      name: 'dwd_events_dropped_total',
      help: 'Events that were given up: too many waited, or the API server did not take them. A missing right does not count.',
    });
  }

  record(event: RecordedEvent): void {
    if (this.#right === 'missing' || this.#stop.signal.aborted) return;
    if (this.#waiting.length >= mostWaiting) {
      this.#dropped.inc();
      return;
    }
    this.#waiting.push(createEvent(event, this.#options));
    this.#sendMore();
  }

  async flush(timeoutMs: number): Promise<void> {
    if (this.#waiting.length + this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.timer(timeoutMs, resolve);
      this.#onIdle = () => {
        cancel();
        resolve();
      };
    });
  }

  stop(): void {
    this.#waiting.length = 0;
    this.#cancelRest?.();
    this.#spareCpu.stop();
    this.#stop.abort(new Error('the program is stopping'));
  }

  #sendMore(): void {
    if (this.#waiting.length + this.#inFlight === 0) this.#onIdle();
    if (this.#waiting.length === 0 || this.#cancelRest !== undefined) return;
    const restMs = this.#spareCpu.restMs();
    if (restMs > 0) {
      this.#cancelRest = this.#options.clock.timer(restMs, () => {
        this.#cancelRest = undefined;
        this.#sendMore();
      });
      return;
    }
    const most = this.#right === 'given' ? mostInFlight : 1;
    while (this.#inFlight < most) {
      const call = this.#waiting.shift();
      if (call === undefined) return;
      void this.#send(call);
    }
  }

  async #send(call: Call<undefined>): Promise<void> {
    this.#inFlight += 1;
    this.#spareCpu.measure();
    try {
      await this.#write(call);
      if (this.#right === 'unknown') this.#right = 'given';
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#giveUp(error);
    }
    this.#inFlight -= 1;
    this.#sendMore();
  }

  async #write(call: Call<undefined>): Promise<void> {
    const { client, clock } = this.#options;
    const { signal } = this.#stop;
    for (let attempts = 1; ; attempts += 1) {
      try {
        await client.call(call, { signal, timeoutMs });
        return;
      } catch (error) {
        if (isApiError(error, 'AlreadyExists')) return;
        if (attempts === mostAttempts || !mayHeal(error)) throw error;
      }
      await clock.sleep(retryMs, signal);
    }
  }

  #giveUp(error: unknown): void {
    const { logger } = this.#options;
    if (!isMissingRight(error)) {
      this.#dropped.inc();
      logger.debug('an Event was not written', { problem: errorText(error) });
    } else if (this.#right !== 'missing') {
      this.#right = 'missing';
      this.#waiting.length = 0;
      logger.warn('no right to write Events in shoot namespaces: they are left out', { problem: errorText(error) });
    }
  }
}

export const createEventRecorder = (options: EventRecorderOptions): RunningEventRecorder =>
  new WritingEventRecorder(options);
