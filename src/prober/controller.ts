import type { Store } from '../kubernetes/cache/index.ts';
import {
  type LifecycleDecision,
  type ProbingEnd,
  type ReleasePolicy,
  type ShootSettings,
  restoresLess,
} from './clusters/lifecycle.ts';
import { emptyProbeMemory } from './judge/judgement.ts';
import { type ProberMemory, type ShootProberDeps, ShootProber } from './shoot.ts';
import type { ClusterSource, HostedCluster, Kubeconfigs } from './clusters/cluster-source.ts';
import { clusterOfHeld, isAnyHeldFor, subscribeToHeld } from './scale/held.ts';

export interface ProberControllerDeps extends ShootProberDeps {
  readonly kubeconfigs: Pick<Kubeconfigs, 'get' | 'subscribe'>;
  readonly source: ClusterSource;
  readonly clusters: Pick<Store<HostedCluster>, 'get'>;
  /** Requests another reconcile of a Cluster after `ms`. */
  readonly requeueAfter: (name: string, ms: number) => void;
}

/** Numbers of held resources by Cluster, without the shoots that have none. */
export type HeldByShoot = ReadonlyMap<string, number>;

interface Entry {
  readonly prober: ShootProber;
  /** The end in progress; absent if there is none. */
  stopping?: ProbingEnd;
}

/** The first runs are spread over this time, in milliseconds. It is short because outages may be under way when the program starts. */
const startPhaseMs = 5_000;
/** Wait before the next attempt to release resources, in milliseconds. */
const retryReleaseMs = 10_000;

/** State at the start of a controller. */
export interface InitialState {
  /** Names of the Clusters that existed when this process began to probe. */
  readonly clusters: ReadonlySet<string>;
  /** Memories of the previous controller, if only the configuration has changed. */
  readonly memories: ReadonlyMap<string, ProberMemory>;
  /** Decision for the prober of a cluster that does not exist. */
  readonly gone: LifecycleDecision;
}

/** Starts, restarts and stops the probers of a seed's shoots. */
export class ProberController {
  readonly #deps: ProberControllerDeps;
  readonly #memories: InitialState['memories'];
  readonly #gone: LifecycleDecision;
  readonly #entries = new Map<string, Entry>();
  readonly #notReconciledYet: Set<string>;
  /** Shoots that are probed again once their prober has stopped, and the start of their next prober. */
  readonly #restarts = new Map<string, ProberMemory>();
  /** Shoots whose release was logged in a dry run. */
  readonly #releasedInDryRun = new Set<string>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor(deps: ProberControllerDeps, initial: InitialState) {
    this.#deps = deps;
    this.#memories = initial.memories;
    this.#gone = initial.gone;
    this.#notReconciledYet = new Set(initial.clusters);
    // A resource may be seen as held late: its kind was not served at first, or its watch was interrupted.
    const forHeld = subscribeToHeld(deps.dependents.values(), (meta) => {
      const name = clusterOfHeld(meta);
      if (!this.#entries.has(name)) deps.requeueAfter(name, 0);
    });
    const forSecrets = deps.kubeconfigs.subscribe(({ key }) =>
      this.#entries.get(key.slice(0, key.indexOf('/')))?.prober.kubeconfigChanged(),
    );
    this.#unsubscribe = [forHeld, forSecrets];
  }

  /** Starts, updates or stops the prober of one Cluster. Never waits for a prober to end. */
  reconcile(name: string): void {
    const wasThere = this.#notReconciledYet.delete(name);
    const decision = this.#lifecycleOf(name);
    this.#deps.emit({ kind: 'cluster-checked', cluster: name, problem: this.#deps.clusters.get(name)?.problem });
    switch (decision?.kind) {
      case 'run':
        this.#releasedInDryRun.delete(name);
        this.#run(name, { shoot: decision.settings, wasThere });
        break;
      case 'stop':
        this.#stop(name, decision);
        break;
      case 'leave':
      case undefined:
        if (wasThere) this.#resume(name);
        break;
    }
  }

  /** Makes probers act when this process becomes the leader, or a pause begins or ends. Without the name of a cluster: all probers. */
  wake(cluster?: string): void {
    for (const [name, { prober }] of this.#entries) if (cluster === undefined || name === cluster) prober.wake();
  }

  /** Returns the memories of the probers that are not stopping, or that are to be started again, by Cluster. */
  memories(): ReadonlyMap<string, ProberMemory> {
    const found = new Map(this.#restarts);
    for (const [name, { prober, stopping }] of this.#entries) if (!stopping) found.set(name, prober.memory());
    return found;
  }

  /** Returns the names of the clusters whose resources are being released. */
  releasing(): ReadonlySet<string> {
    const found = [...this.#entries].filter(([, { stopping }]) => (stopping?.releasePolicy ?? 'nothing') !== 'nothing');
    return new Set(found.map(([name]) => name));
  }

  /**
   * Stops all probers: writes in progress are awaited, nothing new is sent. Calls `onHeld` with the numbers of resources that stay held, now and when all has ended:
   * the program may end before a slow write.
   */
  async stop(onHeld?: (held: HeldByShoot) => void): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    const all = [...this.#entries];
    this.#entries.clear();
    const tell = (): void =>
      onHeld?.(new Map(all.map(([name, { prober }]) => [name, prober.held()] as const).filter(([, held]) => held > 0)));
    tell();
    await Promise.all(
      all.map(([, { prober }]) =>
        prober.stop({ releasePolicy: 'nothing', reason: 'the configuration changes, or the program ends' }),
      ),
    );
    // Probed shoots continue under the next configuration; of the others it may find nothing any more.
    for (const [name, { stopping }] of all) if (stopping !== undefined) this.#forget(name);
    tell();
  }

  #add(name: string, start: ProberMemory): Entry {
    const prober = new ShootProber(this.#deps, name, start);
    const entry = { prober };
    this.#entries.set(name, entry);
    return entry;
  }

  #run(name: string, { shoot, wasThere }: { readonly shoot: ShootSettings; readonly wasThere: boolean }): void {
    const entry = this.#entries.get(name);
    const memory = wasThere ? this.#memories.get(name) : this.#restarts.get(name);
    if (entry?.stopping !== undefined) {
      this.#restart(name, entry);
      return;
    }
    this.#restarts.delete(name);
    if (entry === undefined && memory !== undefined) this.#add(name, { ...memory, settings: shoot });
    else if (entry === undefined) this.#start(name, { shoot, wasThere });
    else if (entry.prober.update(shoot)) this.#deps.emit({ kind: 'settings-changed', cluster: name });
  }

  #start(name: string, { shoot, wasThere }: { readonly shoot: ShootSettings; readonly wasThere: boolean }): void {
    const { initialDelayMs } = this.#deps.settings;
    const delayMs = wasThere ? this.#deps.random.next() * Math.min(initialDelayMs, startPhaseMs) : initialDelayMs;
    const nextRunAt = this.#deps.clock.monotonic() + delayMs;
    this.#add(name, { probe: emptyProbeMemory, nextRunAt, settings: shoot });
    this.#deps.emit({ kind: 'probing-started', cluster: name, delayMs });
  }

  /** Ends a release, because an outage may begin meanwhile: from now on verdicts decide if resources are released. */
  #restart(name: string, entry: Entry): void {
    if (entry.stopping?.releasePolicy === 'nothing') return;
    const memory = entry.prober.memory();
    const nextRunAt = Number.isFinite(memory.nextRunAt) ? memory.nextRunAt : this.#deps.clock.monotonic();
    this.#restarts.set(name, { ...memory, nextRunAt });
    entry.stopping = { releasePolicy: 'nothing', reason: 'it is probed again' };
    void entry.prober.stop(entry.stopping);
  }

  /** Returns undefined if the Cluster cannot be decoded. */
  #lifecycleOf(name: string): LifecycleDecision | undefined {
    const { clusters, emit } = this.#deps;
    const cluster = clusters.get(name);
    if (cluster === undefined) return this.#gone;
    if (cluster.lifecycle.ok) return cluster.lifecycle.value;
    emit({ kind: 'cluster-undecodable', cluster: name, error: cluster.lifecycle.error });
    return undefined;
  }

  /** Continues a prober that has to stay unchanged after a change of the configuration. */
  #resume(name: string): void {
    const memory = this.#memories.get(name);
    if (memory !== undefined && !this.#entries.has(name)) this.#add(name, memory);
  }

  #stop(name: string, { releasePolicy, reason }: ProbingEnd): void {
    const entry = this.#entries.get(name) ?? this.#adoptOrphaned(name, releasePolicy);
    if (entry === undefined) {
      // A shoot with held resources is still reported: another replica, or nobody in a dry run, restores them.
      if (releasePolicy === 'nothing' || !isAnyHeldFor(name, this.#deps)) this.#forget(name);
      return;
    }
    if (entry.stopping !== undefined && !restoresLess(releasePolicy, entry.stopping.releasePolicy)) return;
    entry.stopping = { releasePolicy, reason };
    this.#deps.emit({ kind: 'probing-stopped', cluster: name, reason, releasePolicy });
    void this.#release(name, entry, entry.stopping);
  }

  /** Starts a prober that never probes, for a shoot that is not probed but has resources that an earlier process holds. */
  #adoptOrphaned(name: string, releasePolicy: ReleasePolicy): Entry | undefined {
    if (releasePolicy === 'nothing' || this.#releasedInDryRun.has(name)) return undefined;
    if (this.#deps.role?.().leads === false) return undefined;
    if (!isAnyHeldFor(name, this.#deps)) return undefined;
    const settings = { poolConditions: new Map() };
    return this.#add(name, { probe: emptyProbeMemory, nextRunAt: Number.POSITIVE_INFINITY, settings });
  }

  #forget(name: string): void {
    this.#deps.emit({ kind: 'forgotten', cluster: name });
  }

  async #release(name: string, entry: Entry, end: ProbingEnd): Promise<void> {
    const { dryRun, requeueAfter } = this.#deps;
    await entry.prober.stop(end);
    if (this.#entries.get(name) !== entry) return;
    this.#entries.delete(name);
    this.#forget(name);
    // Reconciles again in any case: the Cluster may have changed meanwhile, and resources that could not be released are found by their annotation. Waits if it would
    // only find them again: a watch may lag, and a dry run removes no annotation.
    const isWanted = this.#lifecycleOf(name)?.kind === 'run';
    if (!isWanted) this.#restarts.delete(name);
    if (dryRun) this.#releasedInDryRun.add(name);
    requeueAfter(name, isWanted ? 0 : retryReleaseMs);
  }
}
