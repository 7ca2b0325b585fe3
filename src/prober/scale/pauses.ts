import { type FoundPause, inForce } from '../../annotations/pause.ts';
import { formatTime } from '../../kubernetes/api/meta-time.ts';
import type { Store } from '../../kubernetes/cache/index.ts';
import type { NamespaceView } from '../clusters/cluster-source.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PauseInForce } from '../../status/state/schema.ts';

export interface PauseChange {
  /** The paused cluster; absent: all clusters. */
  readonly cluster?: string;
  /** Namespace that Events about the pause belong to: that of the cluster, or of the prober. */
  readonly namespace: string;
  /** The pause in force, perhaps that of all clusters; absent if the pause is over. */
  readonly pause?: FoundPause;
  /** True if this process found the pause when it started to watch. */
  readonly isFound: boolean;
}

export interface PausesOptions {
  readonly clock: Clock;
  /** Namespace of the prober. A pause on this Namespace applies to all shoots. */
  readonly ownNamespace: string;
  /** The Namespaces of the seed, watched as long as the process lives. */
  readonly namespaces: Pick<Store<NamespaceView>, 'subscribe' | 'whenSynced'>;
  /** Pause that the first configuration orders. */
  readonly configured?: FoundPause | undefined;
  readonly onChange: (change: PauseChange) => void;
}

const all = '';
/** Time in milliseconds for which a pause that cannot be read is in force, from when this process first saw it. */
const unreadableMs = 3_600_000;

const isSame = (a: FoundPause | undefined, b: FoundPause | undefined): boolean =>
  a?.until === b?.until && a?.reason === b?.reason && a?.by === b?.by && a?.problem === b?.problem;

const endOf = ({ until = Number.POSITIVE_INFINITY }: FoundPause): number => until;

/** Returns the pause that ends later. */
export const laterPause = <T extends FoundPause>(a: T | undefined, b: T | undefined): T | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  return endOf(b) > endOf(a) ? b : a;
};

/** A pause with its origin: the namespace of a shoot, `all`, or `configuration`. */
export interface PauseWithOrigin extends FoundPause {
  readonly on: string;
}

/** Says where a pause was found. */
export const placed = (pause: FoundPause | undefined, on: string): PauseWithOrigin | undefined =>
  pause && { ...pause, on };

/** The pauses of a seed: those of its Namespaces, and of the configuration. The last known state stays in force while the watch is interrupted. */
export class Pauses {
  readonly #options: PausesOptions;
  /** Pauses by namespace, including those that are over. */
  readonly #known = new Map<string, FoundPause>();
  #configured: FoundPause | undefined;
  /** Pauses in force at the last check, by namespace; `all` for the seed. */
  #inForce = new Map<string, FoundPause>();
  /** True once the pauses of a first list are reported: a pause that is new from then on was ordered in this process's time. */
  #hasReportedList = false;
  #cancelTimer = (): void => undefined;

  constructor(options: PausesOptions) {
    this.#options = options;
    this.#configured = options.configured;
    options.namespaces.subscribe(({ type, key, value }) => {
      this.#keep(key, type === 'set' ? value.pause : undefined);
      if (this.#hasReportedList) this.#update();
    });
  }

  /** Reports the pause of the configuration at once, those of the first list once it is complete, and from then on each change. */
  async report(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#cancelTimer(), { once: true });
    this.#update();
    await this.#options.namespaces.whenSynced(signal).catch(() => undefined);
    if (signal.aborted) return;
    this.#update();
    this.#hasReportedList = true;
  }

  /** Uses the pause of another configuration from now on. */
  configure(configured: FoundPause | undefined): void {
    this.#configured = configured;
    this.#update();
  }

  /** Returns the pause in force for a shoot, by its name: of several, the one that ends last. */
  of(name: string): PauseWithOrigin | undefined {
    const own = this.#found(name, this.#options.clock.now());
    return laterPause(placed(own, name), this.ofAll());
  }

  /** Returns the pause in force for all shoots. */
  ofAll(): PauseWithOrigin | undefined {
    const now = this.#options.clock.now();
    return laterPause(
      placed(this.#found(this.#options.ownNamespace, now), 'all'),
      placed(inForce(this.#configured, now), 'configuration'),
    );
  }

  /** Returns the names of the namespaces whose pause cannot be read, also once it is over. */
  unreadable(): readonly string[] {
    return [...this.#known].flatMap(([name, { problem }]) => (problem === undefined ? [] : [name]));
  }

  /** Keeps what a Namespace orders. A pause that cannot be read gets an end, which stays the same however often it is seen. */
  #keep(name: string, pause: FoundPause | undefined): void {
    if (pause === undefined) this.#known.delete(name);
    else if (pause.problem === undefined) this.#known.set(name, pause);
    else if (this.#known.get(name)?.problem !== pause.problem) {
      this.#known.set(name, { ...pause, until: this.#options.clock.now() + unreadableMs });
    }
  }

  #found(namespace: string, now: number): FoundPause | undefined {
    return inForce(this.#known.get(namespace), now);
  }

  /** Reports pauses that have begun, changed or ended, and checks again when the next one ends. */
  #update(): void {
    const { clock, ownNamespace, onChange } = this.#options;
    const now = clock.now();
    const current = new Map([...this.#known].filter(([name, pause]) => name !== ownNamespace && inForce(pause, now)));
    const ofAll = this.ofAll();
    if (ofAll !== undefined) current.set(all, ofAll);
    const before = this.#inForce;
    this.#inForce = current;
    for (const key of new Set([...before.keys(), ...current.keys()])) {
      if (isSame(before.get(key), current.get(key))) continue;
      const cluster = key === all ? undefined : key;
      const pause = cluster === undefined ? ofAll : this.of(cluster);
      onChange({ cluster, namespace: cluster ?? ownNamespace, pause, isFound: !this.#hasReportedList });
    }
    this.#cancelTimer();
    const next = Math.min(...[...current.values()].map(endOf));
    this.#cancelTimer = Number.isFinite(next) ? clock.timer(next - now, () => this.#update()) : () => undefined;
  }
}

/** Returns a pause as the status shows it. */
export const shownPause = (pause: (FoundPause & Partial<PauseWithOrigin>) | undefined): PauseInForce | undefined => {
  if (pause === undefined) return undefined;
  const { until, reason, by, on } = pause;
  return { until: until === undefined ? undefined : formatTime(until), reason, by, on };
};
