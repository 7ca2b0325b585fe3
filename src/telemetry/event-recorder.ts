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

/** Maximum number of waiting Events, a few kB each: enough for an outage of a thousand shoots. Further ones are dropped; the log still has them. */
const mostWaiting = 5_000;
/** Maximum number of Events in flight, and so in the queue of ordinary priority ahead of more important requests. */
const mostInFlight = 4;
const timeoutMs = 10_000;
/** Maximum number of attempts per Event. client-go's recorder also retries (`tools/record/event.go`), with 12 attempts. */
const mostAttempts = 3;
const retryMs = 10_000;
const longestMessage = 1_024;

/** Returns true if a right is missing. The API server also returns 403 in a namespace that is being deleted (`NamespaceTerminating`). */
const isMissingRight = (error: unknown): boolean =>
  isApiError(error, 'Forbidden') && !errorText(error).includes('being terminated');

const mayHeal = (error: unknown): boolean =>
  error instanceof ApiError && (error.handling === 'retry' || error.handling === 'wait');

const hex = (random: Random): string =>
  Math.floor(random.next() * 2 ** 48)
    .toString(16)
    .padStart(12, '0');

/** Creates the call that writes a `v1` Event, in the form of client-go's recorder for a first occurrence. */
const createEvent = (event: RecordedEvent, { clock, random, component }: EventRecorderOptions): Call<undefined> => {
  const { regarding, type, reason, message } = event;
  const { namespace, name } = regarding;
  const at = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    method: 'POST',
    path: resourcePath({ apiVersion: 'v1', resource: 'events', namespace }),
    contentType: 'application/json',
    // A repetition fails with AlreadyExists, because the name is the same.
    repeatable: true,
    body: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${name}.${hex(random)}`, namespace },
      involvedObject: regarding,
      type,
      reason,
      // kubectl prints it unescaped.
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
  /** Resolves when all recorded Events are written or dropped, and after `timeoutMs` at the latest. Never rejects. */
  flush(timeoutMs: number): Promise<void>;
  /** Drops waiting Events and aborts requests in flight. */
  stop(): void;
}

/**
 * Writes Events so that they do not delay more important requests: a few at a time, with ordinary priority, and with pauses while the process is
 * short of CPU. Until one Event is written they are sent one by one, so that a missing right costs a single request. It is logged once, and all further
 * Events are omitted.
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
      help: 'Events that were dropped because too many were waiting, or because the API server did not accept them. Events dropped for a missing right do not count.',
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
