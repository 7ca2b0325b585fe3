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
/** Time without Events in a namespace that refused one; each further refusal doubles it. */
const firstRefusalMs = 600_000;
const longestRefusalMs = 3_600_000;
/** Maximum number of namespaces whose refusals are remembered, a hundred bytes each. The oldest are forgotten, which costs a request each. */
const mostRefusing = 10_000;

/** A namespace in which Events are refused. */
interface Refusal {
  readonly forMs: number;
  readonly until: number;
}

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
 * short of CPU. In a namespace that refuses them, Events are left out and tried again later. Until one Event is written they are sent one by one, so that a
 * missing right costs a single request per namespace.
 */
class WritingEventRecorder implements RunningEventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #dropped: Counter;
  readonly #stop = new AbortController();
  #waiting: WaitingEvent[] = [];
  readonly #refusals = new Map<string, Refusal>();
  readonly #spareCpu: SpareCpu;
  #cancelRest: (() => void) | undefined;
  #onIdle: () => void = () => undefined;
  #inFlight = 0;
  #hasWritten = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#spareCpu = new SpareCpu(options.clock);
    this.#dropped = options.meter.counter({
      name: 'dwd_events_dropped_total',
      help: 'Events dropped: too many were waiting, or the API server did not take them.',
    });
  }

  record(event: RecordedEvent): void {
    const { namespace } = event.regarding;
    if (this.#stop.signal.aborted || this.#refuses(namespace)) return;
    if (this.#waiting.length >= mostWaiting) {
      this.#dropped.inc();
      return;
    }
    this.#waiting.push({ namespace, call: createEvent(event, this.#options) });
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
    this.#waiting = [];
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
    const most = this.#hasWritten ? mostInFlight : 1;
    while (this.#inFlight < most) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      void this.#send(next);
    }
  }

  async #send({ namespace, call }: WaitingEvent): Promise<void> {
    this.#inFlight += 1;
    this.#spareCpu.measure();
    try {
      await this.#write(call);
      this.#hasWritten = true;
      // Within the time of a refusal, this Event was in flight before it.
      if (!this.#refuses(namespace)) this.#refusals.delete(namespace);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#giveUp(namespace, error);
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

  #giveUp(namespace: string, error: unknown): void {
    if (isRefusal(error)) {
      this.#leaveOut(namespace, errorText(error));
      return;
    }
    this.#dropped.inc();
    this.#options.logger.debug('an Event was not written', { problem: errorText(error) });
  }

  #leaveOut(namespace: string, problem: string): void {
    // Another Event of the namespace was in flight.
    if (this.#refuses(namespace)) return;
    this.#waiting = this.#waiting.filter((event) => event.namespace !== namespace);
    const { clock, logger } = this.#options;
    const before = this.#refusals.get(namespace);
    const forMs = before === undefined ? firstRefusalMs : Math.min(2 * before.forMs, longestRefusalMs);
    if (before === undefined) {
      const level = this.#refusals.size === 0 ? 'warn' : 'info';
      logger[level]('the namespace refuses Events: they are left out, and tried again later', { namespace, problem });
    }
    this.#refusals.delete(namespace);
    this.#refusals.set(namespace, { forMs, until: clock.monotonic() + forMs });
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size > mostRefusing && oldest !== undefined) this.#refusals.delete(oldest);
  }

  #refuses(namespace: string): boolean {
    const refusal = this.#refusals.get(namespace);
    return refusal !== undefined && this.#options.clock.monotonic() < refusal.until;
  }
}

export const createEventRecorder = (options: EventRecorderOptions): RunningEventRecorder =>
  new WritingEventRecorder(options);
