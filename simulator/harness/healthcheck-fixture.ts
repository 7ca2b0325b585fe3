import { type HealthCheckControllerOptions, runHealthChecks } from '../../src/healthcheck/index.ts';
import type { ShootConnection } from '../../src/kubernetes/api/shoot-connection.ts';
import { createKubeClient } from '../../src/kubernetes/client/index.ts';
import { createLogger } from '../../src/telemetry/index.ts';
import { type SimApiServer, type SimDraft, createSimApiServer, customKind, simKinds } from '../apiserver/index.ts';
import { type CountingKube, type FaultRule, withCounting, withFaults } from '../network/index.ts';
import { type VirtualClock, createSeededRandom, createVirtualClock } from '../time/index.ts';

export const workerKind = customKind(
  { group: 'extensions.gardener.cloud', version: 'v1alpha1', kind: 'Worker', resource: 'workers' },
  { status: true },
);

export const backupEntryKind = customKind(
  { group: 'extensions.gardener.cloud', version: 'v1alpha1', kind: 'BackupEntry', resource: 'backupentries' },
  { status: true, namespaced: false },
);

/** A condition as the API server stores it. */
export interface StoredCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly lastUpdateTime: string;
  readonly codes?: readonly string[];
}

export interface LogRecord {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

type Optional = 'clock' | 'logger' | 'seed' | 'kind' | 'type' | 'connectShoot';

export interface CareFixtureOptions
  extends Omit<HealthCheckControllerOptions, Optional>,
    Partial<Pick<HealthCheckControllerOptions, Exclude<Optional, 'connectShoot'>>> {
  readonly connectShoot?: HealthCheckControllerOptions['connectShoot'] | undefined;
}

/** The health-check library against a seed in memory, on virtual time. */
export interface HealthCheckFixture {
  readonly clock: VirtualClock;
  readonly seed: SimApiServer;
  readonly requests: CountingKube['counts'];
  readonly log: readonly LogRecord[];
  /** Shoot connections made and closed, by namespace. */
  readonly connected: readonly string[];
  readonly closed: readonly string[];
  setFaults(rule: FaultRule | undefined): void;
  /** Adds a Worker of type `local`, and its Cluster. */
  addWorker(
    namespace: string,
    object?: {
      readonly metadata?: object;
      readonly type?: string;
      readonly class?: string;
      readonly status?: object;
    },
  ): void;
  hibernate(namespace: string, enabled: boolean): void;
  /** Edits the Shoot of a Cluster in another way. */
  editShoot(namespace: string, shoot: object): void;
  editWorker(namespace: string, edit: (worker: SimDraft) => SimDraft): void;
  conditions(namespace: string): readonly StoredCondition[];
  /** Without a `connectShoot` of its own, shoots are the seed; with undefined there is none. Clusters are watched if `watches` is given. */
  start(options: CareFixtureOptions & { readonly watches?: true }): void;
  /** Stops what was started and waits for it. */
  stop(): Promise<void>;
}

export const createHealthCheckFixture = (): HealthCheckFixture => {
  const clock = createVirtualClock();
  const seed = createSimApiServer({ clock, kinds: [...Object.values(simKinds), workerKind, backupEntryKind] });
  const log: LogRecord[] = [];
  const connected: string[] = [];
  const closed: string[] = [];
  let rule: FaultRule | undefined;
  const counting = withCounting(withFaults(seed, { clock, rule: (request) => rule?.(request) }));
  const client = createKubeClient({ kube: counting, clock });
  const logger = createLogger({
    level: 'debug',
    encoder: 'json',
    clock,
    write: (line) => log.push(JSON.parse(line) as LogRecord),
  });
  const stopping = new AbortController();
  let running = Promise.resolve();

  const connectShoot = async (namespace: string): Promise<ShootConnection> => {
    connected.push(namespace);
    return { client, close: () => void closed.push(namespace) };
  };

  const setHibernation = (namespace: string, enabled: boolean): void => {
    const shoot = { spec: { hibernation: { enabled } } };
    seed.store.put(simKinds.Cluster, { metadata: { name: namespace }, spec: { shoot } });
  };

  return {
    clock,
    seed,
    requests: counting.counts,
    log,
    connected,
    closed,
    setFaults: (next) => {
      rule = next;
    },
    addWorker: (namespace, { metadata = {}, type = 'local', class: ofClass, status = {} } = {}) => {
      setHibernation(namespace, false);
      const spec = { type, ...(ofClass === undefined ? {} : { class: ofClass }) };
      seed.store.put(workerKind, { metadata: { ...metadata, name: 'worker', namespace }, spec, status });
    },
    hibernate: setHibernation,
    editShoot: (namespace, shoot) =>
      void seed.store.put(simKinds.Cluster, { metadata: { name: namespace }, spec: { shoot } }),
    editWorker: (namespace, edit) => void seed.store.patch(workerKind, { namespace, name: 'worker' }, edit),
    conditions: (namespace) => {
      const worker = seed.store.get(workerKind, { namespace, name: 'worker' });
      return (worker?.status as { readonly conditions?: readonly StoredCondition[] } | undefined)?.conditions ?? [];
    },
    start: (options) => {
      const { watches, ...rest } = options;
      const { connectShoot: connect = 'connectShoot' in rest ? undefined : connectShoot, ...others } = rest;
      const shoots = connect === undefined ? {} : { connectShoot: connect };
      const watch = watches === true ? { watch: { kube: counting, random: createSeededRandom(1) } } : {};
      const ports = { clock, logger, seed: client, ...shoots, ...watch };
      running = runHealthChecks({ ...ports, kind: 'Worker', type: 'local', ...others }, stopping.signal);
    },
    stop: async () => {
      stopping.abort(new Error('stopped'));
      await clock.run(running);
    },
  };
};
