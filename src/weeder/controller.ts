import type { EndpointSliceView } from '../kubernetes/api/endpoint-slice.ts';
import { formatLabelSelector } from '../kubernetes/api/label-selectors.ts';
import type { Store, StoreChange } from '../kubernetes/cache/index.ts';
import type { NamespaceState } from './judge/namespace-state.ts';
import type { PodNeed } from './judge/watch-plan.ts';
import { type ServiceState, type Weeding, advanceService } from './judge/weedings.ts';
import { NamespaceWeeder, type NamespaceWeederDeps } from './namespace-weeder.ts';
import { PodObserver } from './observe.ts';
import type { PodWatches } from './pod-watches.ts';
import { ServiceReadiness } from './readiness.ts';
import type { WeederSettings } from './settings.ts';

export interface WeederControllerDeps extends NamespaceWeederDeps {
  readonly settings: WeederSettings;
  readonly slices: Store<EndpointSliceView>;
  readonly watches: PodWatches;
  /** Requests another `reconcile` of a service after `ms`. */
  readonly requeueAfter: (key: string, ms: number) => void;
}

/** State that outlives a change of the configuration. */
export interface WeederState {
  /** States of services, by `namespace/service`. */
  readonly services: ReadonlyMap<string, ServiceState>;
  readonly namespaces: ReadonlyMap<string, NamespaceState>;
}

/** Weedings that start within this time, in milliseconds, are planned together, so that no watch is opened only to be replaced. */
const planDelayMs = 20;
/** Interval in which the state of namespaces without weedings is pruned, in milliseconds. */
const pruneMs = 60_000;

/** Starts and ends the weedings of a seed. Keys are `namespace/service`. */
export class WeederController {
  readonly #deps: WeederControllerDeps;
  /** Label selectors by service. */
  readonly #selectors: ReadonlyMap<string, readonly string[]>;
  readonly #readiness: ServiceReadiness;
  readonly #observer: PodObserver;
  readonly #services = new Map<string, ServiceState>();
  /** Weedings by namespace and service. */
  readonly #weedings = new Map<string, Map<string, Weeding>>();
  readonly #namespaces = new Map<string, NamespaceWeeder>();
  #cancelPlan: (() => void) | undefined;
  #cancelPrune: (() => void) | undefined;

  constructor(deps: WeederControllerDeps, before: WeederState | undefined) {
    this.#deps = deps;
    this.#selectors = new Map(
      deps.settings.services.map(({ name, podSelectors }) => [
        name,
        [...new Set(podSelectors.map(formatLabelSelector))],
      ]),
    );
    this.#readiness = new ServiceReadiness(deps.slices);
    this.#observer = new PodObserver({
      watches: deps.watches,
      onChange: (namespace) => this.#namespaces.get(namespace)?.wake(),
    });
    if (before !== undefined) this.#takeOver(before);
  }

  /** Keys of the services known so far. */
  keys(): readonly string[] {
    return [...new Set([...this.#readiness.keys(), ...this.#services.keys()])];
  }

  /** Applies a change of an EndpointSlice. Returns the keys of the services to reconcile. */
  observe(change: StoreChange<EndpointSliceView>): readonly string[] {
    return this.#readiness.observe(change);
  }

  /** Starts or ends the weeding of one service according to its readiness. */
  reconcile(key: string): void {
    const [namespace = '', service = ''] = key.split('/');
    if (!this.#selectors.has(service)) return;
    const { clock, report, settings, requeueAfter } = this.#deps;
    const now = clock.monotonic();
    const { watchDurationMs } = settings;
    const observed = { namespace, service, now, watchDurationMs, ...this.#readiness.take(key) };
    const { state, ended, started } = advanceService(this.#services.get(key), observed);
    if (state.ready) this.#services.set(key, state);
    else this.#services.delete(key);
    if (ended !== undefined) report.weedingEnded({ ...ended, now });
    if (started !== undefined) report.weedingStarted(started, now);
    if (ended !== undefined || started !== undefined) this.#setWeeding({ namespace, service }, state.weeding);
    if (state.weeding !== undefined) requeueAfter(key, state.weeding.endsAt - now);
  }

  state(): WeederState {
    return {
      services: this.#services,
      namespaces: new Map(Array.from(this.#namespaces, ([name, weeder]) => [name, weeder.state])),
    };
  }

  /** Ends all weedings and stops new deletes. Resolves when all deletes in flight have ended. */
  async stop(): Promise<void> {
    this.#cancelPlan?.();
    this.#cancelPrune?.();
    this.#observer.close();
    await Promise.all(Array.from(this.#namespaces.values(), (weeder) => weeder.stop()));
  }

  #takeOver(before: WeederState): void {
    const { clock, report } = this.#deps;
    const now = clock.monotonic();
    // Take over namespaces without a weeding, too: one may start under the new configuration.
    for (const [namespace, state] of before.namespaces) this.#weederOf(namespace, state);
    this.#planSoon();
    for (const [key, state] of before.services) {
      const { weeding } = state;
      const isConfigured = this.#selectors.has(key.split('/')[1] ?? '');
      if (isConfigured) this.#services.set(key, state);
      if (weeding === undefined) continue;
      if (isConfigured) this.#setWeeding(weeding, weeding);
      else report.weedingEnded({ weeding, why: 'stopped', now });
    }
  }

  #setWeeding({ namespace, service }: Pick<Weeding, 'namespace' | 'service'>, weeding?: Weeding): void {
    const weedings = this.#weedings.get(namespace) ?? new Map<string, Weeding>();
    if (weeding === undefined) weedings.delete(service);
    else weedings.set(service, weeding);
    if (weedings.size === 0) this.#weedings.delete(namespace);
    else this.#weedings.set(namespace, weedings);
    // The end of a weeding must take effect at once; its start has to wait for the watch anyway.
    this.#weederOf(namespace).wake();
    this.#planSoon();
  }

  /** Returns the weedings whose `endsAt` is in the future: after a suspension of the process, pod events may arrive before the timers. */
  #running(namespace: string): ReadonlyMap<string, Weeding> {
    const now = this.#deps.clock.monotonic();
    return new Map([...(this.#weedings.get(namespace) ?? [])].filter(([, { endsAt }]) => endsAt > now));
  }

  #needsOf(namespace: string): readonly PodNeed[] {
    return [...this.#running(namespace).keys()].flatMap((service) =>
      (this.#selectors.get(service) ?? []).map((selector) => ({ namespace, service, selector })),
    );
  }

  #planSoon(): void {
    this.#cancelPlan ??= this.#deps.clock.timer(planDelayMs, () => this.#plan());
  }

  #plan(): void {
    this.#cancelPlan = undefined;
    this.#observer.cover([...this.#weedings.keys()].flatMap((namespace) => this.#needsOf(namespace)));
    for (const weeder of this.#namespaces.values()) weeder.wake();
    this.#cancelPrune ??= this.#deps.clock.timer(pruneMs, () => this.#prune());
  }

  /** Drops namespaces without weedings once their back-offs are reset. */
  #prune(): void {
    for (const [namespace, weeder] of this.#namespaces) {
      if (this.#weedings.has(namespace)) continue;
      if (weeder.isIdle) this.#namespaces.delete(namespace);
      else weeder.wake();
    }
    const isEmpty = this.#namespaces.size === 0;
    this.#cancelPrune = isEmpty ? undefined : this.#deps.clock.timer(pruneMs, () => this.#prune());
  }

  #weederOf(namespace: string, state?: NamespaceState): NamespaceWeeder {
    const known = this.#namespaces.get(namespace);
    if (known !== undefined) return known;
    const created = new NamespaceWeeder(this.#deps, {
      namespace,
      state,
      weedings: () => this.#running(namespace),
      pods: () => this.#observer.podsOf(this.#needsOf(namespace)),
    });
    this.#namespaces.set(namespace, created);
    return created;
  }
}
