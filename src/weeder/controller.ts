import { type EndpointSliceView, decodeEndpointSlice, serviceNameLabel } from '../kubernetes/api/endpoint-slice.ts';
import { formatLabelSelector } from '../kubernetes/api/label-selectors.ts';
import { type Informer, createInformer, indexByNamespace, waitForSync } from '../kubernetes/cache/index.ts';
import { type ConfiguredComponent, type ReadyCheck, whenAborted } from '../process/index.ts';
import type { Weeding } from './events.ts';
import { type NamespaceState, NamespaceWeeder, type NamespaceWeederDeps } from './namespace.ts';
import { type PodNeed, PodObserver, type PodObserverDeps } from './observe.ts';
import type { WeederSettings } from './config.ts';

export type WeederControllerDeps = PodObserverDeps & Pick<NamespaceWeederDeps, 'client' | 'dryRun' | 'report'>;

/** State that outlives a change of the configuration, by namespace. */
export type WeederState = ReadonlyMap<string, NamespaceState>;

/** Weedings that start within this time, in milliseconds, are planned together, so that no watch is opened only to be replaced. */
const planDelayMs = 20;

/**
 * Weeds a seed under one configuration: watches EndpointSlices and, while it leads, passes their changes to the weeders of their namespaces, and has the pods
 * watched that these need.
 */
export class WeederController implements ConfiguredComponent<WeederSettings, WeederState> {
  readonly settings: WeederSettings;
  readonly #deps: WeederControllerDeps;
  /** Label selectors by service. */
  readonly #selectors: ReadonlyMap<string, readonly string[]>;
  readonly #slices: Informer<EndpointSliceView>;
  readonly #slicesIn: ReturnType<typeof indexByNamespace<EndpointSliceView>>;
  readonly #observer: PodObserver;
  readonly #namespaces = new Map<string, NamespaceWeeder>();
  readonly #closing = new AbortController();
  #watch = Promise.resolve();
  #cancelPlan: (() => void) | undefined;

  constructor(settings: WeederSettings, deps: WeederControllerDeps) {
    this.settings = settings;
    this.#deps = deps;
    this.#selectors = new Map(
      settings.services.map(({ name, podSelectors }) => [name, [...new Set(podSelectors.map(formatLabelSelector))]]),
    );
    this.#slices = createInformer<EndpointSliceView>({
      ...deps,
      kube: deps.seed,
      path: '/apis/discovery.k8s.io/v1/endpointslices',
      query: { labelSelector: `${serviceNameLabel} in (${[...this.#selectors.keys()].toSorted().join()})` },
      project: decodeEndpointSlice,
    });
    this.#slicesIn = indexByNamespace(this.#slices);
    this.#observer = new PodObserver(deps, (namespace) => this.#namespaces.get(namespace)?.wake());
  }

  async sync(): Promise<void> {
    const { signal } = this.#closing;
    this.#watch = this.#slices.run(signal);
    await waitForSync([this.#slices], { ...this.#deps, signal });
  }

  async work(before: WeederState = new Map(), signal: AbortSignal): Promise<WeederState> {
    for (const [namespace, state] of before) this.#weederOf(namespace, signal, this.#stillConfigured(state));
    for (const [, { namespace }] of this.#slices.entries()) this.#weederOf(namespace, signal);
    const weeders = [...this.#namespaces.values()];
    for (const weeder of weeders) weeder.start();
    const unsubscribe = this.#slices.subscribe((change) =>
      this.#weederOf(change.value.namespace, signal).observe(change),
    );
    this.#planSoon();
    this.#deps.logger.info('watching over services', { namespaces: weeders.length });
    await whenAborted(signal);
    // A service that recovers while deletes in flight are awaited is weeded by the next configuration.
    await Promise.all(Array.from(this.#namespaces.values(), (weeder) => weeder.whenStopped()));
    unsubscribe();
    this.#cancelPlan?.();
    await this.#observer.close();
    return new Map(Array.from(this.#namespaces, ([namespace, { state }]) => [namespace, state]));
  }

  checks(): readonly ReadyCheck[] {
    const { problem } = this.#slices.state();
    // Pods are watched only during weedings, so their check appears only while there is a problem.
    const [first, ...others] = Array.from(this.#deps.registry.entries).flatMap((watch) =>
      watch.resource === 'pods' ? (watch.problem() ?? []) : [],
    );
    const more = others.length === 0 ? '' : `; and ${others.length} more`;
    return [
      { name: 'endpoint-slices', ok: this.#slices.synced, detail: problem },
      ...(first === undefined ? [] : [{ name: 'pods', ok: true, detail: `${first}${more}` }]),
    ];
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('this watch is no longer needed'));
    await this.#watch;
  }

  /** Ends the weedings of services that are no longer configured. */
  #stillConfigured({ services, owners }: NamespaceState): NamespaceState {
    const configured = new Map([...services].filter(([service]) => this.#selectors.has(service)));
    for (const [service, { weeding }] of services) {
      if (configured.has(service) || weeding === undefined) continue;
      this.#deps.report({ type: 'weeding-ended', weeding, why: 'stopped' });
    }
    return { services: configured, owners };
  }

  #needsOf(weedings: readonly Weeding[]): readonly PodNeed[] {
    return weedings.flatMap((weeding) =>
      (this.#selectors.get(weeding.service) ?? []).map((selector) => ({ weeding, selector })),
    );
  }

  #planSoon(): void {
    this.#cancelPlan ??= this.#deps.clock.timer(planDelayMs, () => {
      this.#cancelPlan = undefined;
      for (const [namespace, weeder] of this.#namespaces) if (weeder.isIdle) this.#namespaces.delete(namespace);
      this.#observer.cover(Array.from(this.#namespaces.values()).flatMap(({ weedings }) => this.#needsOf(weedings)));
    });
  }

  #weederOf(namespace: string, signal: AbortSignal, before?: NamespaceState): NamespaceWeeder {
    const known = this.#namespaces.get(namespace);
    if (known !== undefined) return known;
    const deps: NamespaceWeederDeps = {
      ...this.#deps,
      namespace,
      signal,
      watchDurationMs: this.settings.watchDurationMs,
      slices: () => [...this.#slicesIn(namespace).values()],
      podsOf: (weedings) => this.#observer.podsOf(this.#needsOf(weedings)),
      onWeedings: () => this.#planSoon(),
    };
    const created = new NamespaceWeeder(deps, before);
    this.#namespaces.set(namespace, created);
    return created;
  }
}
