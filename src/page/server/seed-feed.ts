import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { ShootStatus } from '../../status/state/schema.ts';
import {
  type PageSample,
  type SeedView,
  type ShootTexts,
  changesSince,
  sampleOf,
  textsOf,
  fullMessageOf,
} from '../feed/index.ts';
import { type EventStream, messageOf } from './event-streams.ts';

/** Source of the data that the page shows. */
export interface PageSource {
  seed(signal: AbortSignal): Promise<SeedView>;
  /** Reads a shoot with its details; undefined if there is no such shoot. */
  shoot(namespace: string, signal: AbortSignal): Promise<ShootStatus | undefined>;
}

export interface SeedFeedDeps {
  readonly source: PageSource;
  readonly clock: Clock;
  readonly logger: Logger;
}

const tickMs = 1_000;
const sampleEveryMs = 5_000;
/** Number of samples in an hour. */
const mostSamples = 720;

/** A reader of the whole seed. */
interface Reader {
  readonly stream: EventStream;
  /** True if the reader has missed a message or received none yet, so that changes alone are not enough. */
  needsAll: boolean;
}

/** Reads the seed every second while there are readers, otherwise every five seconds, and sends the changes. It reads no more often, however many come and go. */
export class SeedFeed {
  readonly #deps: SeedFeedDeps;
  readonly #readers = new Set<Reader>();
  /** Readers of single shoots, by the shoot's namespace. */
  readonly #shootReaders = new Map<string, Set<EventStream>>();
  readonly #samples: PageSample[] = [];
  /** The shoots as they were last sent; absent without readers. */
  #sent: ShootTexts | undefined;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  #lastProblem: string | undefined;
  #wake: () => void = () => undefined;

  constructor(deps: SeedFeedDeps) {
    this.#deps = deps;
  }

  watchSeed(stream: EventStream): void {
    const reader: Reader = { stream, needsAll: true };
    this.#readers.add(reader);
    stream.onEnd(() => this.#readers.delete(reader));
    this.#wake();
  }

  watchShoot(stream: EventStream, namespace: string): void {
    const readers = this.#shootReaders.get(namespace) ?? new Set();
    this.#shootReaders.set(namespace, readers.add(stream));
    stream.onEnd(() => {
      readers.delete(stream);
      if (readers.size === 0) this.#shootReaders.delete(namespace);
    });
    this.#wake();
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#tick(signal);
        this.#lastProblem = undefined;
      } catch (error) {
        this.#report(error, signal);
      }
      await this.#rest(signal);
    }
  }

  /** Logs an error once, not at every read. */
  #report(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const problem = String(error);
    if (problem !== this.#lastProblem) this.#deps.logger.warn('page: the seed could not be read', { error });
    this.#lastProblem = problem;
  }

  /** Sleeps until the next read: the one for samples or, with readers, a second after the last one. */
  async #rest(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const sleepUntil = (at: number, until: AbortSignal): Promise<void> =>
      clock.sleep(at - clock.monotonic(), until).catch(() => undefined);
    const isWatched = this.#readers.size + this.#shootReaders.size > 0;
    if (!isWatched) await sleepUntil(this.#readAt + sampleEveryMs, AbortSignal.any([signal, woken.signal]));
    await sleepUntil(this.#readAt + tickMs, signal);
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { source, clock } = this.#deps;
    this.#readAt = clock.monotonic();
    const view = await source.seed(signal);
    const isDue = clock.monotonic() - this.#sampledAt >= sampleEveryMs;
    if (isDue) this.#sample(view);
    this.#sendSeed(view, isDue);
    await Promise.all([...this.#shootReaders].map((entry) => this.#sendShoot(entry, signal)));
  }

  #sample(view: SeedView): void {
    const { clock } = this.#deps;
    this.#sampledAt = clock.monotonic();
    this.#samples.push(sampleOf(view, clock.now()));
    if (this.#samples.length > mostSamples) this.#samples.shift();
  }

  /** Sends the seed to all readers. Each message is serialized only once. */
  #sendSeed(view: SeedView, hasSample: boolean): void {
    const texts = this.#readers.size === 0 ? undefined : textsOf(view);
    const before = this.#sent ?? texts;
    this.#sent = texts;
    if (texts === undefined || before === undefined) return;
    const make = (all: boolean): Buffer => {
      const seed = messageOf('seed', all ? fullMessageOf(view) : changesSince(before, view, texts));
      if (!all && !hasSample) return seed;
      return Buffer.concat([seed, messageOf('samples', all ? this.#samples : this.#samples.slice(-1))]);
    };
    const made = new Map<boolean, Buffer>();
    for (const reader of this.#readers) {
      const { needsAll } = reader;
      const message = made.get(needsAll) ?? make(needsAll);
      made.set(needsAll, message);
      reader.needsAll = !reader.stream.send(message);
    }
  }

  async #sendShoot([namespace, readers]: readonly [string, ReadonlySet<EventStream>], signal: AbortSignal) {
    const shoot = (await this.#deps.source.shoot(namespace, signal)) ?? null;
    const message = messageOf('shoot', shoot);
    for (const stream of readers) stream.send(message);
  }
}
