import type { CareCluster, CareShoot, NamespacedName } from '../../domain/index.ts';
import type { Random, StoreChange } from '../../ports/index.ts';
import { createGardenReader } from './garden-reader.ts';
import type { CareReport, ShootCare } from './report.ts';
import { type Remembered, type RunDeps, type RunRequest, runCare } from './run.ts';
import { createSeedObserver } from './seed-view.ts';
import type { CareSources } from './watched.ts';

export type { Writing } from './act.ts';
export { type CareReport, createCareReport, type ShootCare } from './report.ts';
export type { CareSources, GardenSources, Watched } from './watched.ts';

export interface CareControllerDeps extends Omit<RunDeps, 'observer' | 'kubeconfigs' | 'gardenReader'> {
  readonly random: Random;
  readonly sources: CareSources;
  readonly report: CareReport;
  /** Asks for another reconcile of a namespace after `ms`. */
  readonly requeueAfter: (namespace: string, ms: number) => void;
}

/** What the last runs made of the shoots, by control-plane namespace. */
export type CareMemory = ReadonlyMap<string, Remembered>;

/** Checks the shoots of a seed, each once per sync period. Keys are control-plane namespaces. */
export interface CareController {
  /** Asks for the first check of every shoot, and from now on for those of new ones. */
  start(): void;
  /** One run for one shoot; asks for the next. */
  reconcile(namespace: string, signal: AbortSignal): Promise<void>;
  /** One run for one shoot. Undefined: there is no such shoot. Rejects only with `signal.reason`. */
  check(namespace: string, signal: AbortSignal): Promise<ShootCare | undefined>;
  /** Whether the last run for the shoot waited long for its API server. */
  isSlow(namespace: string): boolean;
  /** Of all shoots, sorted. */
  namespaces(): readonly string[];
  memory(): CareMemory;
  /** Asks for nothing more. Runs under way end by their signals. */
  stop(): void;
}

/** Whether what the shoot was asked to do has just been done: its conditions are of interest at once. */
const hasJustSucceeded = ({ value, previous }: StoreChange<CareCluster>): boolean => {
  const stateOf = (cluster: CareCluster | undefined): string | undefined =>
    cluster?.shoot.ok === true ? cluster.shoot.value.lastOperation?.state : undefined;
  return stateOf(previous) === 'Processing' && stateOf(value) === 'Succeeded';
};

/** Of a Cluster that says not even which Shoot it is of. */
const unreadable = (namespace: string, problem: string): ShootCare => ({
  namespace,
  conditions: [],
  status: 'unknown',
  writing: { kind: 'unchanged' },
  problem,
  durationMs: 0,
});

/** A Shoot of which nothing is known but its name. */
const nameless = { uid: '', seedName: '', labels: {}, hibernated: false, purpose: '', pools: [], vpaEnabled: false };
const bareShoot = (name: NamespacedName): CareShoot => ({ ...nameless, ...name, hasLastErrors: false, conditions: [] });

/** What a run starts from. Undefined: the Cluster says not even which Shoot it is of. */
const startOf = ({ shoot, shootName }: CareCluster): Pick<RunRequest, 'shoot' | 'problem'> | undefined => {
  if (shoot.ok) return { shoot: shoot.value };
  return shootName && { shoot: bareShoot(shootName), problem: shoot.error.message };
};

export const createCareController = (deps: CareControllerDeps, before?: CareMemory): CareController => {
  const { clock, random, settings, sources, report, requeueAfter } = deps;
  const { syncPeriodMs } = settings;
  const observer = createSeedObserver(sources);
  const gardenReader = deps.garden && createGardenReader(deps.garden);
  const runDeps: RunDeps = { ...deps, observer, kubeconfigs: sources.kubeconfigs, gardenReader };
  const remembered = new Map(before);
  const slow = new Set<string>();
  let unsubscribe = (): void => undefined;

  const check = async (namespace: string, signal: AbortSignal): Promise<ShootCare | undefined> => {
    const cluster = sources.clusters.get(namespace);
    if (cluster === undefined) return undefined;
    const { seedName, shoot } = cluster;
    const from = startOf(cluster);
    if (from === undefined) {
      const care = unreadable(namespace, shoot.ok ? '' : shoot.error.message);
      report.ran(care, []);
      return care;
    }
    const request = { namespace, seedName, ...from, remembered: remembered.get(namespace), signal };
    const { care, before: stored, isSlow, bug, ...made } = await runCare(runDeps, request);
    // The shoot may have left while it was checked.
    if (sources.clusters.get(namespace) === undefined) return care;
    remembered.set(namespace, made.remembered);
    if (isSlow) slow.add(namespace);
    else slow.delete(namespace);
    report.ran(care, stored);
    if (bug !== undefined) report.broke(namespace, bug);
    return care;
  };

  const observeChange = (change: StoreChange<CareCluster>): void => {
    const { type, key, previous } = change;
    if (type === 'deleted') {
      remembered.delete(key);
      slow.delete(key);
      report.left(key);
    } else if (previous === undefined) requeueAfter(key, random.next() * syncPeriodMs);
    else if (hasJustSucceeded(change)) requeueAfter(key, 0);
  };

  return {
    start: () => {
      unsubscribe = sources.clusters.subscribe(observeChange);
      for (const [namespace] of sources.clusters.entries()) requeueAfter(namespace, random.next() * syncPeriodMs);
    },
    reconcile: async (namespace, signal) => {
      const startedAt = clock.monotonic();
      if ((await check(namespace, signal)) === undefined) return;
      requeueAfter(namespace, Math.max(0, startedAt + syncPeriodMs - clock.monotonic()));
    },
    check,
    isSlow: (namespace) => slow.has(namespace),
    namespaces: () => Array.from(sources.clusters.entries(), ([namespace]) => namespace).sort(),
    memory: () => new Map(remembered),
    stop: () => {
      unsubscribe();
      observer.close();
    },
  };
};
