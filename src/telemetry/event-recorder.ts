import type { Call } from '../kubernetes/api/call.ts';
import { ApiError, errorText, isApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { formatTime } from '../kubernetes/api/meta-time.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Counter, Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { escapeControlsInLines } from './escape-controls.ts';

/** The object that an Event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** UID, by which `kubectl describe` finds Events. */
  readonly uid?: string;
}

export interface RecordedEvent {
  readonly regarding: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** Reason for machines, in CamelCase. */
  readonly reason: string;
  /** Message for people, cut off after 1024 characters. */
  readonly message: string;
}

export interface EventRecorder {
  /** Never throws and never waits: an Event that cannot be written is dropped. */
  record(event: RecordedEvent): void;
}

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
const timeoutMs = 10_000;
/** Maximum number of attempts per Event. client-go's recorder also retries (`tools/record/event.go`), with 12 attempts. */
const mostAttempts = 3;
const retryMs = 10_000;
const longestMessage = 1_024;
/** Time without Events in a namespace that refused one. */
const refusalMs = 600_000;
/** Maximum number of namespaces whose refusals are remembered, a hundred bytes each. All are forgotten beyond, which costs a request each. */
const mostRefusing = 10_000;

/** Returns true if a right is missing, or a quota or a webhook denies Events. The API server also returns 403 in a namespace that is being deleted (`NamespaceTerminating`). */
const isRefusal = (error: unknown): boolean =>
  isApiError(error, 'Forbidden') && !errorText(error).includes('being terminated');

const mayHeal = (error: unknown): boolean =>
  error instanceof ApiError && (error.handling === 'retry' || error.handling === 'wait');

interface WaitingEvent {
  readonly namespace: string;
  readonly call: Call<undefined>;
}

const hex = (random: Random): string =>
  Math.floor(random.next() * 2 ** 48)
    .toString(16)
    .padStart(12, '0');

/** Creates the call that writes a `v1` Event, in the form of client-go's recorder for a first occurrence. */
const createEvent = (event: RecordedEvent, { clock, random, component }: EventRecorderOptions): Call<undefined> => {
  const { regarding, type, reason, message } = event;
  const { namespace, name } = regarding;
  const at = formatTime(clock.now());
  return {
    method: 'POST',
    path: resourcePath({ apiVersion: 'v1', resource: 'events', namespace }),
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

/**
 * Writes Events one after the other, as client-go's recorder does, so that they take little from more important requests, and less the slower the event loop
 * turns. In a namespace that refuses them, Events are left out and tried again later.
 */
class WritingEventRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #dropped: Counter;
  readonly #stop = new AbortController();
  #waiting: WaitingEvent[] = [];
  /** Monotonic instants, by namespace, until which Events are left out. */
  readonly #refusedUntil = new Map<string, number>();
  /** Settles when no Event waits any more; undefined then. */
  #writing: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#dropped = options.meter.counter({
      name: 'dwd_events_dropped_total',
      help: 'Events dropped: too many were waiting, or the API server did not take them.',
    });
  }

  record(event: RecordedEvent): void {
    const { namespace } = event.regarding;
    if (this.#stop.signal.aborted || this.#options.clock.monotonic() < (this.#refusedUntil.get(namespace) ?? 0)) return;
    if (this.#waiting.length >= mostWaiting) {
      this.#dropped.inc();
      return;
    }
    this.#waiting.push({ namespace, call: createEvent(event, this.#options) });
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when all recorded Events are written or dropped, and after `timeoutMs` at the latest. Never rejects. */
  async flush(timeoutMs: number): Promise<void> {
    let cancel = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      cancel = this.#options.clock.timer(timeoutMs, resolve);
    });
    await Promise.race([this.#writing, late]);
    cancel();
  }

  /** Drops waiting Events and aborts the request in flight. */
  stop(): void {
    this.#waiting = [];
    this.#stop.abort(new Error('the program is stopping'));
  }

  async #writeAll(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) await this.#write(next);
    this.#writing = undefined;
  }

  async #write({ namespace, call }: WaitingEvent): Promise<void> {
    try {
      await this.#send(call);
      this.#refusedUntil.delete(namespace);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      if (isRefusal(error)) {
        this.#leaveOut(namespace, errorText(error));
        return;
      }
      this.#dropped.inc();
      this.#options.logger.debug('an Event was not written', { problem: errorText(error) });
    }
  }

  async #send(call: Call<undefined>): Promise<void> {
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

  #leaveOut(namespace: string, problem: string): void {
    const { clock, logger } = this.#options;
    this.#waiting = this.#waiting.filter((event) => event.namespace !== namespace);
    if (!this.#refusedUntil.has(namespace)) {
      const level = this.#refusedUntil.size === 0 ? 'warn' : 'info';
      logger[level]('the namespace refuses Events: they are left out, and tried again later', { namespace, problem });
    }
    if (this.#refusedUntil.size >= mostRefusing) this.#refusedUntil.clear();
    this.#refusedUntil.set(namespace, clock.monotonic() + refusalMs);
  }
}

export const createEventRecorder = (options: EventRecorderOptions): WritingEventRecorder =>
  new WritingEventRecorder(options);
