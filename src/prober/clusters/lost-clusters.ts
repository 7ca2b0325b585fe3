import type { Store } from '../../kubernetes/cache/index.ts';
import type { Clock } from '../../ports/clock.ts';
import { type LifecycleDecision, decideAfterSourceChange, findsSameClusters } from './lifecycle.ts';
import { heldByCluster } from '../scale/held.ts';
import type { ProberMemories } from '../shoot.ts';
import type { ProberSettings } from '../config/settings.ts';
import { sourceOf, type ProberSources } from './sources.ts';

export const clusterNames = (clusters: Pick<Store<unknown>, 'entries'>): Set<string> =>
  new Set(Array.from(clusters.entries(), ([name]) => name));

export interface LostClustersDeps {
  readonly settings: ProberSettings;
  /** As `ConfiguredProberDeps.former`. */
  readonly former?: ProberSettings | undefined;
  readonly sources: ProberSources;
  readonly memories: ProberMemories;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Clusters that do not exist when a configuration takes effect, but that the former one probed or released, or that have held resources. */
export class LostClusters {
  readonly #deps: LostClustersDeps;
  readonly #since: number;
  readonly #names: Set<string>;
  readonly #decision: LifecycleDecision;
  /**
   * True if the configuration finds other clusters than the former one. A missing cluster may still exist, but nobody watches it any more, and nothing would
   * show its return.
   */
  readonly #isSourceChanged: boolean;

  constructor(deps: LostClustersDeps) {
    this.#deps = deps;
    const { settings, former, sources, memories, clock } = deps;
    this.#since = clock.monotonic();
    const known = clusterNames(sources.clusters);
    const names = [
      ...memories.probers.keys(),
      ...memories.releasing.keys(),
      ...heldByCluster(sources.dependents).keys(),
    ];
    this.#names = new Set(names.filter((name) => !known.has(name)));
    this.#isSourceChanged = former !== undefined && !findsSameClusters(former, settings);
    this.#decision = decideAfterSourceChange(former && sourceOf(former).gone, sources.source.gone);
    for (const name of this.#names) this.expectReturn(name);
  }

  names(): Iterable<string> {
    return this.#names;
  }

  /** Called for a cluster that exists. */
  found(name: string): void {
    this.#names.delete(name);
  }

  /** Returns the decision for the prober of a cluster that does not exist. */
  goneOf(name: string): LifecycleDecision {
    const { memories, sources } = this.#deps;
    return this.#names.has(name) ? (memories.releasing.get(name) ?? this.#decision) : sources.source.gone;
  }

  /**
   * Lets a cluster that this configuration has not seen yet, and that may return, count as existing for a while. Call this before the cluster is judged: its
   * resources may be seen as held late.
   */
  expectReturn(name: string): void {
    const { memories, sources } = this.#deps;
    if (this.#isSourceChanged || memories.releasing.has(name)) return;
    sources.awaitSince?.(name, this.#since);
  }
}
