import type { Store } from '../kubernetes/cache/index.ts';
import type { LifecycleDecision, ReleasePolicy } from './clusters/lifecycle.ts';
import { emptyProbeMemory } from './judge/judgement.ts';
import { type ProberMemories, type ProberMemory, type ShootProberDeps, ShootProber } from './shoot.ts';
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

/** The first runs are spread over this time, in milliseconds. It is short because outages may be under way when the program starts. */
const startPhaseMs = 5_000;
/** Wait before the next look for resources to give back, in milliseconds: a watch may lag, and a dry run removes no annotation. */
const lookAgainMs = 10_000;

/** State at the start of a controller. */
export interface InitialState {
  /** Names of the Clusters that existed when this process began to probe. */
  readonly clusters: ReadonlySet<string>;
  /** Memories of the previous controller, if only the configuration has changed. */
  readonly memories: ProberMemories;
}

/** Has a prober for each shoot that is probed, or has something to be given back. Each follows the decision on its shoot. */
export class ProberController {
  readonly #deps: ProberControllerDeps;
  readonly #memories: ProberMemories;
  readonly #probers = new Map<string, ShootProber>();
  readonly #notReconciledYet: Set<string>;
  /** Shoots whose release was logged in a dry run. */
  readonly #releasedInDryRun = new Set<string>();
  readonly #unsubscribe: readonly (() => void)[];

  constructor(deps: ProberControllerDeps, initial: InitialState) {
    this.#deps = deps;
    this.#memories = initial.memories;
    this.#notReconciledYet = new Set(initial.clusters);
    // A resource may be seen as held late: its kind was not served at first, or its watch was interrupted.
    const forHeld = subscribeToHeld(deps.dependents.values(), (meta) => {
      const name = clusterOfHeld(meta);
      if (!this.#probers.has(name)) deps.requeueAfter(name, 0);
    });
    const forSecrets = deps.kubeconfigs.subscribe(({ key }) =>
      this.#probers.get(key.slice(0, key.indexOf('/')))?.kubeconfigChanged(),
    );
    this.#unsubscribe = [forHeld, forSecrets];
  }

  /** Has the prober of one Cluster follow its decision. Never waits for a prober to end. */
  reconcile(name: string): void {
    const wasThere = this.#notReconciledYet.delete(name);
    const decision = this.#lifecycleOf(name);
    this.#deps.emit({ kind: 'cluster-checked', cluster: name, problem: this.#deps.clusters.get(name)?.problem });
    const memory = wasThere ? this.#memories.get(name) : undefined;
    switch (decision?.kind) {
      case 'run':
        this.#releasedInDryRun.delete(name);
        (this.#probers.get(name) ?? this.#start(name, { settings: decision.settings, memory, wasThere })).run(
          decision.settings,
        );
        break;
      case 'stop': {
        const prober = this.#probers.get(name) ?? this.#adopt(name, decision.releasePolicy);
        if (prober !== undefined) prober.stop(decision);
        // A shoot with held resources is still reported: another replica, or nobody in a dry run, restores them.
        else if (decision.releasePolicy === 'nothing' || !isAnyHeldFor(name, this.#deps)) this.#forget(name);
        break;
      }
      case 'leave':
      case undefined:
        // After a change of the configuration, a prober that is to be left as it is goes on.
        if (memory !== undefined && !this.#probers.has(name)) this.#add(name, memory);
        break;
    }
  }

  /** Makes probers act when this process becomes the leader, or a pause begins or ends. Without the name of a cluster: all probers. */
  wake(cluster?: string): void {
    for (const [name, prober] of this.#probers) if (cluster === undefined || name === cluster) prober.wake();
  }

  /** Returns the memories of the probers that probe, by Cluster. */
  memories(): ProberMemories {
    return new Map([...this.#probers].flatMap(([name, one]) => (one.isEnding() ? [] : [[name, one.memory()]])));
  }

  /** Returns the names of the clusters whose resources are being given back. */
  releasing(): ReadonlySet<string> {
    return new Set([...this.#probers].flatMap(([name, prober]) => (prober.isEnding() ? [name] : [])));
  }

  /**
   * Stops all probers: writes in progress are awaited, nothing new is sent. Calls `onHeld` with the numbers of resources that stay held, now and when all has ended:
   * the program may end before a slow write.
   */
  async stop(onHeld?: (held: HeldByShoot) => void): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    const all = [...this.#probers];
    this.#probers.clear();
    const tell = (): void =>
      onHeld?.(new Map(all.map(([name, prober]) => [name, prober.held()] as const).filter(([, held]) => held > 0)));
    tell();
    // Probed shoots continue under the next configuration; of the others it may find nothing any more.
    const ending = all.filter(([, prober]) => prober.isEnding());
    await Promise.all(all.map(([, prober]) => prober.close()));
    for (const [name] of ending) this.#forget(name);
    tell();
  }

  #add(name: string, start: ProberMemory): ShootProber {
    const prober = new ShootProber(this.#deps, name, { ...start, onEnded: () => this.#ended(name) });
    this.#probers.set(name, prober);
    return prober;
  }

  #start(
    name: string,
    { settings, memory, wasThere }: Pick<ProberMemory, 'settings'> & { memory?: ProberMemory; wasThere: boolean },
  ): ShootProber {
    if (memory !== undefined) return this.#add(name, { ...memory, settings });
    const { initialDelayMs } = this.#deps.settings;
    const delayMs = wasThere ? this.#deps.random.next() * Math.min(initialDelayMs, startPhaseMs) : initialDelayMs;
    const prober = this.#add(name, {
      probe: emptyProbeMemory,
      nextRunAt: this.#deps.clock.monotonic() + delayMs,
      settings,
    });
    this.#deps.emit({ kind: 'probing-started', cluster: name, delayMs });
    return prober;
  }

  /** Starts a prober for a shoot that is not probed but has resources that an earlier process holds. It probes only if the shoot is to be probed later. */
  #adopt(name: string, releasePolicy: ReleasePolicy): ShootProber | undefined {
    if (releasePolicy === 'nothing' || this.#releasedInDryRun.has(name)) return undefined;
    if (this.#deps.role?.().leads === false) return undefined;
    if (!isAnyHeldFor(name, this.#deps)) return undefined;
    const settings = { poolConditions: new Map() };
    return this.#add(name, { probe: emptyProbeMemory, nextRunAt: Number.POSITIVE_INFINITY, settings });
  }

  /** Returns undefined if the Cluster cannot be decoded. */
  #lifecycleOf(name: string): LifecycleDecision | undefined {
    const { clusters, emit, source } = this.#deps;
    const cluster = clusters.get(name);
    if (cluster === undefined) return source.gone;
    if (cluster.lifecycle.ok) return cluster.lifecycle.value;
    emit({ kind: 'cluster-undecodable', cluster: name, error: cluster.lifecycle.error });
    return undefined;
  }

  /** Reconciles again in any case: what could not be given back is found by its annotation. */
  #ended(name: string): void {
    this.#probers.delete(name);
    this.#forget(name);
    if (this.#deps.dryRun) this.#releasedInDryRun.add(name);
    this.#deps.requeueAfter(name, lookAgainMs);
  }

  #forget(name: string): void {
    this.#deps.emit({ kind: 'forgotten', cluster: name });
  }
}
