import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { ProbedShoot } from '../../prober/status/schema.ts';
import { type PageSample, type SeedView, changesBetween, sampleOf, wholeOf } from '../feed/index.ts';
import { type EventStream, messageOf } from './event-streams.ts';

/** Where the page has what it shows. */
export interface PageSource {
  seed(signal: AbortSignal): Promise<SeedView>;
  /** With its details; undefined if there is no such shoot. */
  shoot(namespace: string, signal: AbortSignal): Promise<ProbedShoot | undefined>;
}

export interface SeedFeedDeps {
  readonly source: PageSource;
  readonly clock: Clock;
  readonly logger: Logger;
}

const tickMs = 1_000;
const sampleEveryMs = 5_000;
/** An hour. */
const mostSamples = 720;

/** A reader of the seed. */
interface Reader {
  readonly stream: EventStream;
  /** It has missed a message, or had none: changes mean nothing to it. */
  needsAll: boolean;
}

/** Reads the seed every second while somebody watches, every five seconds otherwise, and sends what changed. */
export class SeedFeed {
  readonly #deps: SeedFeedDeps;
  readonly #readers = new Set<Reader>();
  /** By namespace. */
  readonly #shootReaders = new Map<string, Set<EventStream>>();
  readonly #samples: PageSample[] = [];
  #view: SeedView | undefined;
  #sampledAt = Number.NEGATIVE_INFINITY;
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

  /** Until `signal` aborts. */
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

  /** Once, not every second. */
  #report(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const problem = String(error);
    if (problem !== this.#lastProblem) this.#deps.logger.warn('page: the seed could not be read', { error });
    this.#lastProblem = problem;
  }

  /** A new reader ends it early. */
  async #rest(signal: AbortSignal): Promise<void> {
    const isWatched = this.#readers.size + this.#shootReaders.size > 0;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await this.#deps.clock
      .sleep(isWatched ? tickMs : sampleEveryMs, AbortSignal.any([signal, woken.signal]))
      .catch(() => undefined);
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { source, clock } = this.#deps;
    const before = this.#view;
    const view = await source.seed(signal);
    this.#view = view;
    const isDue = clock.monotonic() - this.#sampledAt >= sampleEveryMs;
    if (isDue) this.#sample(view);
    this.#sendSeed(before, view, isDue);
    await Promise.all([...this.#shootReaders].map((entry) => this.#sendShoot(entry, signal)));
  }

  #sample(view: SeedView): void {
    const { clock } = this.#deps;
    this.#sampledAt = clock.monotonic();
    this.#samples.push(sampleOf(view, clock.now()));
    if (this.#samples.length > mostSamples) this.#samples.shift();
  }

  /** Each message is made once, however many read it. */
  #sendSeed(before: SeedView | undefined, view: SeedView, hasSample: boolean): void {
    const whole = once(() => Buffer.concat([messageOf('seed', wholeOf(view)), messageOf('samples', this.#samples)]));
    const changes = once(() =>
      Buffer.concat([
        messageOf('seed', changesBetween(before ?? view, view)),
        ...(hasSample ? [messageOf('samples', this.#samples.slice(-1))] : []),
      ]),
    );
    for (const reader of this.#readers) {
      reader.needsAll = !reader.stream.send(reader.needsAll ? whole() : changes());
    }
  }

  async #sendShoot([namespace, readers]: readonly [string, ReadonlySet<EventStream>], signal: AbortSignal) {
    const shoot = (await this.#deps.source.shoot(namespace, signal)) ?? null;
    const message = messageOf('shoot', shoot);
    for (const stream of readers) stream.send(message);
  }
}

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};
