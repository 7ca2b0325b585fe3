import type { ClusterView } from '../../domain/index.ts';
import { isHeld, refKey } from '../../domain/index.ts';
import type { Store } from '../../ports/index.ts';
import {
  type ReleasePolicy,
  type LifecycleDecision,
  type ShootSettings,
  decideLifecycle,
  releasesLess,
  sameSettings,
} from './lifecycle.ts';
import { createExternalProbes, type ExternalProbeSourceDeps } from './outside-source.ts';
import {
  type ProberMemory,
  type ProberStart,
  type ShootProber,
  type ShootProberDeps,
  startShootProber,
} from './prober.ts';

export { type ApiServers, createApiServers } from './api-servers.ts';
export type { ProberMemory } from './prober.ts';
export { releasePolicyOnRequest, releaseShoot, type ShootRelease } from './release.ts';
export { createProberReport, type ProberReport } from './report.ts';

export interface ProberControllerDeps
  extends Omit<ShootProberDeps, 'outside'>,
    Pick<ExternalProbeSourceDeps, 'externalKubeconfigs'> {
  readonly clusters: Store<ClusterView>;
  /** Asks for another reconcile of a Cluster after `ms`. */
  readonly requeueAfter: (name: string, ms: number) => void;
}

/** Starts, restarts and stops the probers of a seed's shoots. */
export interface ProberController {
  /** Brings the prober of one Cluster in line with it; never waits for a prober to end. */
  reconcile(name: string): void;
  /** Of all probers, by Cluster. */
  memories(): ReadonlyMap<string, ProberMemory>;
  /** Ends all probers: writes under way are awaited, nothing new is sent. Resolves with what stays held. */
  stop(): Promise<HeldByShoot>;
}

/** Counts of the resources that are held, by Cluster; only shoots of which some are. */
export type HeldByShoot = ReadonlyMap<string, number>;

interface Entry {
  readonly prober: ShootProber;
  settings: ShootSettings;
  /** Set while it gives back what it holds. */
  stopping?: ReleasePolicy;
}

/** Outages may be under way when the program starts: first runs are spread over this, in milliseconds. */
const startPhaseMs = 5_000;
/** After giving back failed, in milliseconds. */
const retryReleaseMs = 10_000;

/** What is known when a controller starts. */
export interface InitialState {
  /** Names of the Clusters that were there when this process began to look. */
  readonly clusters: ReadonlySet<string>;
  /** What the controller before remembered of them, when only the configuration has changed. */
  readonly memories: ReadonlyMap<string, ProberMemory>;
}

export const createProberController = (deps: ProberControllerDeps, initial: InitialState): ProberController => {
  const { report, settings, random, clusters } = deps;
  const entries = new Map<string, Entry>();
  const notSeenYet = new Set(initial.clusters);
  /** Shoots that may be probed again although their farewell has begun, and how they go on when it has been cut short. */
  const restarts = new Map<string, ProberStart['first']>();
  /** In a dry run: shoots whose farewell was told. */
  const releasedInDryRun = new Set<string>();
  const { registry: externalProbes, source: externalProbe } = createExternalProbes(deps, initial.memories);
  const shootDeps: ShootProberDeps = externalProbe === undefined ? deps : { ...deps, externalProbe };

  const add = (name: string, start: Omit<ProberStart, 'namespace'>): Entry => {
    const entry = { prober: startShootProber(shootDeps, { namespace: name, ...start }), settings: start.settings };
    entries.set(name, entry);
    report.probers(entries.size);
    return entry;
  };

  const run = (
    name: string,
    { shoot, wasThere }: { readonly shoot: ShootSettings; readonly wasThere: boolean },
  ): void => {
    const entry = entries.get(name);
    const memory = wasThere ? initial.memories.get(name) : restarts.get(name);
    if (entry?.stopping !== undefined) {
      restart(name, entry);
      return;
    }
    restarts.delete(name);
    if (entry === undefined && memory !== undefined) add(name, { settings: shoot, first: memory });
    else if (entry === undefined) {
      const delayMs = wasThere
        ? random.next() * Math.min(settings.initialDelayMs, startPhaseMs)
        : settings.initialDelayMs;
      add(name, { settings: shoot, first: { delayMs } });
      report.proberStarted(name, { delayMs });
    } else if (!sameSettings(entry.settings, shoot)) {
      entry.settings = shoot;
      entry.prober.update(shoot);
      report.settingsChanged(name);
    }
  };

  /** An outage may begin while things are given back: whether they are, a verdict says from now on. */
  const restart = (name: string, entry: Entry): void => {
    if (entry.stopping === 'nothing') return;
    const memory = entry.prober.memory();
    restarts.set(name, Number.isFinite(memory.nextRunAt) ? memory : { delayMs: 0 });
    entry.stopping = 'nothing';
    void entry.prober.stop('nothing');
  };

  /** Undefined where the Cluster cannot be decoded. */
  const lifecycleOf = (name: string): LifecycleDecision | undefined => {
    const shoot = clusters.get(name)?.shoot;
    if (shoot?.ok !== false) return decideLifecycle(shoot?.value);
    report.clusterUndecodable(name, shoot.error);
    return undefined;
  };

  /** A prober that is to be left as it is outlives a change of the configuration. */
  const resume = (name: string): void => {
    const memory = initial.memories.get(name);
    if (memory !== undefined && !entries.has(name)) add(name, { settings: memory.settings, first: memory });
  };

  const stopProber = (name: string, { releasePolicy, reason }: Extract<LifecycleDecision, { kind: 'stop' }>): void => {
    const entry = entries.get(name) ?? adoptOrphaned(name, releasePolicy);
    externalProbes.forget(name);
    if (entry === undefined) {
      if (releasePolicy === 'nothing') report.forget(name);
      return;
    }
    if (entry.stopping !== undefined && !releasesLess(releasePolicy, entry.stopping)) return;
    entry.stopping = releasePolicy;
    report.proberStopped(name, { reason, releasePolicy });
    void release(name, entry);
  };

  /** For a shoot that is not probed but carries marks of an earlier process: a prober that never probes. */
  const adoptOrphaned = (name: string, releasePolicy: ReleasePolicy): Entry | undefined => {
    const isMarked = settings.dependentResources.some(({ ref }) => {
      const object = deps.dependents.get(refKey(ref))?.store.get(`${name}/${ref.name}`);
      return object !== undefined && isHeld(object.meta);
    });
    if (!isMarked || releasePolicy === 'nothing' || releasedInDryRun.has(name)) return undefined;
    const first = { delayMs: Number.POSITIVE_INFINITY };
    return add(name, { settings: { poolConditions: new Map() }, first });
  };

  const release = async (name: string, entry: Entry): Promise<void> => {
    await entry.prober.stop(entry.stopping ?? 'nothing');
    if (entries.get(name) !== entry) return;
    entries.delete(name);
    report.probers(entries.size);
    report.forget(name);
    // Again in any case: the Cluster may have changed meanwhile, and what could not be given back is found by its mark. Not at once
    // where it would only be found again: a watch may lag, and a dry run takes no mark away.
    const isWanted = lifecycleOf(name)?.kind === 'run';
    if (!isWanted) restarts.delete(name);
    if (deps.dryRun) releasedInDryRun.add(name);
    deps.requeueAfter(name, isWanted ? 0 : retryReleaseMs);
  };

  // A mark may come into sight late: its kind was not served at first, or its watch was away.
  const unsubscribe = [...deps.dependents.values()].map(({ store }) =>
    store.subscribe(({ type, value: { meta } }) => {
      if (type === 'set' && isHeld(meta) && !entries.has(meta.namespace)) deps.requeueAfter(meta.namespace, 0);
    }),
  );

  return {
    reconcile: (name) => {
      const wasThere = notSeenYet.delete(name);
      const decision = lifecycleOf(name);
      switch (decision?.kind) {
        case 'run':
          releasedInDryRun.delete(name);
          run(name, { shoot: decision.settings, wasThere });
          break;
        case 'stop':
          stopProber(name, decision);
          break;
        case 'leave':
        case undefined:
          if (wasThere) resume(name);
          break;
      }
    },
    memories: () => {
      const probing = [...entries].filter(([, { stopping }]) => stopping === undefined);
      return new Map(probing.map(([name, { prober }]) => [name, prober.memory()]));
    },
    stop: async () => {
      externalProbes.close();
      for (const stopListening of unsubscribe) stopListening();
      const all = [...entries];
      entries.clear();
      await Promise.all(all.map(([, { prober }]) => prober.stop('nothing')));
      return new Map(all.map(([name, { prober }]) => [name, prober.held()] as const).filter(([, held]) => held > 0));
    },
  };
};
