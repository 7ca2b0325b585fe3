import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import type { CareCluster, CareShoot } from '../gardener/care-shoots.ts';
import type { StoreChange } from '../kubernetes/cache/index.ts';
import type { Random } from '../ports/random.ts';
import { GardenReader } from './garden-reader.ts';
import type { CareReport, ShootResult } from './report.ts';
import { SeedObserver } from './seed-observer.ts';
import { type CheckTarget, type LastCheck, ShootCheck, type ShootCheckDeps } from './shoot-check.ts';
import type { CareSources } from './sources.ts';

export interface CareControllerDeps extends Omit<ShootCheckDeps, 'observer' | 'kubeconfigs' | 'gardenReader'> {
  readonly random: Random;
  readonly sources: CareSources;
  readonly report: CareReport;
  /** Requests another `reconcile` of a namespace after `ms`. */
  readonly requeueAfter: (namespace: string, ms: number) => void;
}

/** State that outlives a change of the configuration: the last check of each shoot, by control-plane namespace. */
export type CareState = ReadonlyMap<string, LastCheck>;

/** True if the operation on the shoot has just succeeded. It is then checked at once, because its conditions matter now. */
const hasJustSucceeded = ({ value, previous }: StoreChange<CareCluster>): boolean => {
  const stateOf = (cluster: CareCluster | undefined): string | undefined =>
    cluster?.shoot.ok === true ? cluster.shoot.value.lastOperation?.state : undefined;
  return stateOf(previous) === 'Processing' && stateOf(value) === 'Succeeded';
};

/** Returns the result for a Cluster that does not even name its Shoot. */
const undecodableResult = (namespace: string, { shoot }: CareCluster): ShootResult => ({
  namespace,
  conditions: [],
  status: 'unknown',
  writing: { kind: 'unchanged' },
  problem: shoot.ok ? '' : shoot.error.message,
  durationMs: 0,
});

/** Returns a Shoot with a name and nothing else. */
const nameOnly = (name: NamespacedName): CareShoot => ({
  uid: '',
  seedName: '',
  labels: {},
  hibernated: false,
  purpose: '',
  pools: [],
  vpaEnabled: false,
  ...name,
  hasLastErrors: false,
  conditions: [],
});

/** Returns the shoot to check, or undefined if the Cluster does not even name its Shoot. */
const targetOf = ({ seedName, shoot, shootName }: CareCluster): CheckTarget | undefined => {
  if (shoot.ok) return { seedName, shoot: shoot.value };
  return shootName && { seedName, shoot: nameOnly(shootName), problem: shoot.error.message };
};

/** Checks the shoots of a seed, each once per sync period. Keys are control-plane namespaces. */
export class CareController {
  readonly #deps: CareControllerDeps;
  readonly #checkDeps: ShootCheckDeps;
  readonly #observer: SeedObserver;
  readonly #checks = new Map<string, ShootCheck>();
  #unsubscribe = (): void => undefined;

  constructor(deps: CareControllerDeps, before: CareState = new Map()) {
    const { sources, garden } = deps;
    this.#deps = deps;
    this.#observer = new SeedObserver(sources);
    const gardenReader = garden && new GardenReader(garden);
    this.#checkDeps = { ...deps, observer: this.#observer, kubeconfigs: sources.kubeconfigs, gardenReader };
    for (const [namespace, last] of before) {
      this.#checks.set(namespace, new ShootCheck(this.#checkDeps, namespace, last));
    }
  }

  /** Requests the first check of every shoot, and from now on that of each new shoot. */
  start(): void {
    const { clusters } = this.#deps.sources;
    this.#unsubscribe = clusters.subscribe((change) => this.#onChange(change));
    for (const [namespace] of clusters.entries()) this.#requestFirst(namespace);
  }

  /** Checks one shoot, and requests its next check. */
  async reconcile(namespace: string, signal: AbortSignal): Promise<void> {
    const { clock, settings, requeueAfter } = this.#deps;
    const startedAt = clock.monotonic();
    if ((await this.check(namespace, signal)) === undefined) return;
    requeueAfter(namespace, Math.max(0, startedAt + settings.syncPeriodMs - clock.monotonic()));
  }

  /** Checks one shoot. Resolves with undefined if it does not exist. Rejects only with `signal.reason`, or for a bug. */
  async check(namespace: string, signal: AbortSignal): Promise<ShootResult | undefined> {
    const { sources, report } = this.#deps;
    const cluster = sources.clusters.get(namespace);
    if (cluster === undefined) return undefined;
    const target = targetOf(cluster);
    if (target === undefined) {
      const result = undecodableResult(namespace, cluster);
      report.checked(result, []);
      return result;
    }
    const { result, before, bug } = await this.#checkOf(namespace).run(target, signal);
    // If the Cluster is gone by now, so are its metrics, which a report would create again.
    if (sources.clusters.get(namespace) === undefined) return result;
    report.checked(result, before);
    if (bug !== undefined) report.unexpectedError(namespace, bug);
    return result;
  }

  /** True if the last check waited long for the shoot's API server. */
  isSlow(namespace: string): boolean {
    return this.#checks.get(namespace)?.isSlow ?? false;
  }

  /** Returns the control-plane namespaces of all shoots, sorted. */
  namespaces(): readonly string[] {
    return Array.from(this.#deps.sources.clusters.entries(), ([namespace]) => namespace).sort();
  }

  state(): CareState {
    return new Map(
      Array.from(this.#checks).flatMap(([namespace, { last }]) => (last === undefined ? [] : [[namespace, last]])),
    );
  }

  /** Stops requesting checks. Checks that are running end when their signals abort. */
  stop(): void {
    this.#unsubscribe();
    this.#observer.close();
  }

  #requestFirst(namespace: string): void {
    const { random, settings, requeueAfter } = this.#deps;
    requeueAfter(namespace, random.next() * settings.syncPeriodMs);
  }

  #checkOf(namespace: string): ShootCheck {
    const known = this.#checks.get(namespace);
    if (known !== undefined) return known;
    const created = new ShootCheck(this.#checkDeps, namespace, undefined);
    this.#checks.set(namespace, created);
    return created;
  }

  #onChange(change: StoreChange<CareCluster>): void {
    const { type, key, previous } = change;
    if (type === 'deleted') {
      this.#checks.delete(key);
      this.#deps.report.forget(key);
    } else if (previous === undefined) this.#requestFirst(key);
    else if (hasJustSucceeded(change)) this.#deps.requeueAfter(key, 0);
  }
}
