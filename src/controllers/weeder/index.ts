import { type EndpointSliceView, formatLabelSelector, type WeederSettings } from '../../domain/index.ts';
import type { PodWatches, Store, StoreChange } from '../../ports/index.ts';
import type { NamespaceMemory } from './decide.ts';
import { createNamespaceWeeder, type NamespaceWeeder, type NamespaceWeederDeps } from './namespace.ts';
import { createPodObserver } from './observe.ts';
import { createReadiness } from './readiness.ts';
import type { Need } from './scopes.ts';
import { advanceService, type ServiceState, type Weeding } from './weedings.ts';

export { createWeederReport, type WeederReport } from './report.ts';

export interface WeederControllerDeps extends NamespaceWeederDeps {
  readonly settings: WeederSettings;
  readonly slices: Store<EndpointSliceView>;
  readonly watches: PodWatches;
  /** Asks for another reconcile of a service after `ms`. */
  readonly requeueAfter: (key: string, ms: number) => void;
}

/** What a weeder goes on with after a change of the configuration. */
export interface WeederMemory {
  /** By `namespace/service`. */
  readonly services: ReadonlyMap<string, ServiceState>;
  readonly namespaces: ReadonlyMap<string, NamespaceMemory>;
}

/** Starts and ends the weedings of a seed. Keys are `namespace/service`. */
export interface WeederController {
  /** Services that are known already. */
  keys(): readonly string[];
  /** Takes in a change of an EndpointSlice; returns the services to reconcile. */
  observe(change: StoreChange<EndpointSliceView>): readonly string[];
  /** Starts or ends the weeding of one service, as its readiness demands. */
  reconcile(key: string): void;
  memory(): WeederMemory;
  /** Ends all weedings: deletes that have left are awaited, nothing new is sent. */
  stop(): Promise<void>;
}

/** Weedings that start in the same moment are planned together, so that watches are not opened only to be replaced. In milliseconds. */
const settleMs = 20;
/** How often namespaces are looked through for what may be forgotten, in milliseconds. */
const sweepMs = 60_000;

export const createWeederController = (
  deps: WeederControllerDeps,
  before: WeederMemory | undefined,
): WeederController => {
  const { clock, report, settings, requeueAfter } = deps;
  const selectorsOf = new Map(
    settings.services.map(({ name, podSelectors }) => [name, [...new Set(podSelectors.map(formatLabelSelector))]]),
  );
  const readiness = createReadiness(deps.slices);
  const services = new Map<string, ServiceState>();
  /** By namespace and service. */
  const weedings = new Map<string, Map<string, Weeding>>();
  const namespaces = new Map<string, NamespaceWeeder>();
  const observer = createPodObserver({
    watches: deps.watches,
    onChange: (namespace) => namespaces.get(namespace)?.look(),
  });
  let cancelPlan: (() => void) | undefined;
  let cancelSweep: (() => void) | undefined;

  /** By the clock: a process that stood still hears of pods before it hears that a weeding is over. */
  const underWay = (namespace: string): ReadonlyMap<string, Weeding> => {
    const now = clock.monotonic();
    return new Map([...(weedings.get(namespace) ?? [])].filter(([, { endsAt }]) => endsAt > now));
  };

  const needsOf = (namespace: string): readonly Need[] =>
    [...underWay(namespace).keys()].flatMap((service) =>
      (selectorsOf.get(service) ?? []).map((selector) => ({ namespace, service, selector })),
    );

  const plan = (): void => {
    cancelPlan = undefined;
    observer.cover([...weedings.keys()].flatMap(needsOf));
    for (const weeder of namespaces.values()) weeder.look();
    cancelSweep ??= clock.timer(sweepMs, sweep);
  };

  /** What a namespace remembers outlives its weedings, but not by long. */
  const sweep = (): void => {
    for (const [namespace, weeder] of namespaces) {
      if (weedings.has(namespace)) continue;
      if (weeder.isIdle()) namespaces.delete(namespace);
      else weeder.look();
    }
    cancelSweep = namespaces.size === 0 ? undefined : clock.timer(sweepMs, sweep);
  };

  const weederOf = (namespace: string, memory?: NamespaceMemory): NamespaceWeeder => {
    const known = namespaces.get(namespace);
    if (known !== undefined) return known;
    const created = createNamespaceWeeder(deps, {
      namespace,
      memory,
      weedings: () => underWay(namespace),
      pods: () => observer.podsOf(needsOf(namespace)),
    });
    namespaces.set(namespace, created);
    return created;
  };

  const setWeeding = ({ namespace, service }: Pick<Weeding, 'namespace' | 'service'>, weeding?: Weeding): void => {
    const known = weedings.get(namespace) ?? new Map<string, Weeding>();
    if (weeding === undefined) known.delete(service);
    else known.set(service, weeding);
    if (known.size === 0) weedings.delete(namespace);
    else weedings.set(namespace, known);
    // At once for what must end; what begins waits for its watch anyway.
    weederOf(namespace).look();
    cancelPlan ??= clock.timer(settleMs, plan);
  };

  const reconcile = (key: string): void => {
    const [namespace = '', service = ''] = key.split('/');
    if (!selectorsOf.has(service)) return;
    const now = clock.monotonic();
    const look = { namespace, service, now, watchDurationMs: settings.watchDurationMs, ...readiness.take(key) };
    const { state, ended, started } = advanceService(services.get(key), look);
    if (state.ready) services.set(key, state);
    else services.delete(key);
    if (ended !== undefined) report.weedingEnded({ ...ended, now });
    if (started !== undefined) report.weedingStarted(started, now);
    if (ended !== undefined || started !== undefined) setWeeding({ namespace, service }, state.weeding);
    if (state.weeding !== undefined) requeueAfter(key, state.weeding.endsAt - now);
  };

  const takeOver = (memory: WeederMemory): void => {
    const now = clock.monotonic();
    // Those without a weeding as well: it may be the next configuration under which one of theirs begins.
    for (const [namespace, known] of memory.namespaces) weederOf(namespace, known);
    cancelPlan ??= clock.timer(settleMs, plan);
    for (const [key, state] of memory.services) {
      const { weeding } = state;
      const isConfigured = selectorsOf.has(key.split('/')[1] ?? '');
      if (isConfigured) services.set(key, state);
      if (weeding === undefined) continue;
      if (isConfigured) setWeeding(weeding, weeding);
      else report.weedingEnded({ weeding, why: 'stopped', now });
    }
  };

  if (before !== undefined) takeOver(before);
  return {
    keys: () => [...new Set([...readiness.keys(), ...services.keys()])],
    observe: (change) => readiness.observe(change),
    reconcile,
    memory: () => ({
      services,
      namespaces: new Map(Array.from(namespaces, ([name, weeder]) => [name, weeder.memory()])),
    }),
    stop: async () => {
      cancelPlan?.();
      cancelSweep?.();
      observer.close();
      await Promise.all(Array.from(namespaces.values(), (weeder) => weeder.stop()));
    },
  };
};
