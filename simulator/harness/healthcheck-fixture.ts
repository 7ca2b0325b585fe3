import { type HealthCheckControllerOptions, runHealthChecks } from '../../src/healthcheck/index.ts';
import type { ShootConnection } from '../../src/kubernetes/api/shoot-connection.ts';
import { createKubeClient } from '../../src/kubernetes/client/index.ts';
import type { Logger } from '../../src/ports/logger.ts';
import { type SimDraft, createSimApiServer, customKind, simKinds } from '../apiserver/index.ts';
import { type CountingKube, type FaultRule, withCounting, withFaults } from '../network/index.ts';
import { createSeededRandom, createVirtualClock } from '../time/index.ts';
import { type LogRecord, recordLog } from './recorded-log.ts';

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

type Optional = 'clock' | 'logger' | 'seed' | 'kind' | 'type' | 'connectShoot';

export interface HealthCheckFixtureOptions
  extends Omit<HealthCheckControllerOptions, Optional>,
    Partial<Pick<HealthCheckControllerOptions, Exclude<Optional, 'connectShoot'>>> {
  readonly connectShoot?: HealthCheckControllerOptions['connectShoot'] | undefined;
}

/** The parts of a Worker that `addWorker` does not set by itself. */
export interface WorkerInit {
  readonly metadata?: object;
  readonly type?: string;
  readonly class?: string;
  readonly status?: object;
}

/** Runs the health-check library against a seed in memory, on virtual time. */
export class HealthCheckFixture {
  readonly clock = createVirtualClock();
  readonly seed = createSimApiServer({
    clock: this.clock,
    kinds: [...Object.values(simKinds), workerKind, backupEntryKind],
  });
  readonly log: readonly LogRecord[];
  /** Namespaces of the shoot connections that were opened, and of those that were closed. */
  readonly connected: string[] = [];
  readonly closed: string[] = [];
  readonly #kube = withCounting(withFaults(this.seed, { clock: this.clock, rule: (request) => this.#rule?.(request) }));
  readonly #client = createKubeClient({ kube: this.#kube, clock: this.clock });
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  #rule: FaultRule | undefined;
  #running = Promise.resolve();

  constructor() {
    const { log, logger } = recordLog(this.clock, 'debug');
    this.log = log;
    this.#logger = logger;
  }

  get requests(): CountingKube['counts'] {
    return this.#kube.counts;
  }

  setFaults(rule: FaultRule | undefined): void {
    this.#rule = rule;
  }

  /** Adds a Worker of type `local`, and its Cluster. */
  addWorker(namespace: string, object: WorkerInit = {}): void {
    const { metadata = {}, type = 'local', class: ofClass, status = {} } = object;
    this.hibernate(namespace, false);
    const spec = { type, ...(ofClass === undefined ? {} : { class: ofClass }) };
    this.seed.store.put(workerKind, { metadata: { ...metadata, name: 'worker', namespace }, spec, status });
  }

  hibernate(namespace: string, enabled: boolean): void {
    this.editShoot(namespace, { spec: { hibernation: { enabled } } });
  }

  /** Replaces the Shoot in a Cluster. */
  editShoot(namespace: string, shoot: object): void {
    this.seed.store.put(simKinds.Cluster, { metadata: { name: namespace }, spec: { shoot } });
  }

  editWorker(namespace: string, edit: (worker: SimDraft) => SimDraft): void {
    this.seed.store.patch(workerKind, { namespace, name: 'worker' }, edit);
  }

  conditions(namespace: string): readonly StoredCondition[] {
    const worker = this.seed.store.get(workerKind, { namespace, name: 'worker' });
    return (worker?.status as { readonly conditions?: readonly StoredCondition[] } | undefined)?.conditions ?? [];
  }

  /** Starts the library. By default `connectShoot` connects to the seed; undefined means none. Clusters are watched if `watches` is given. */
  start({ watches, ...rest }: HealthCheckFixtureOptions & { readonly watches?: true }): void {
    const connectOwn = (namespace: string): Promise<ShootConnection> => this.#connectShoot(namespace);
    const { connectShoot = 'connectShoot' in rest ? undefined : connectOwn, ...options } = rest;
    const shoots = connectShoot === undefined ? {} : { connectShoot };
    const watch = watches === true ? { watch: { kube: this.#kube, random: createSeededRandom(1) } } : {};
    const ports = { clock: this.clock, logger: this.#logger, seed: this.#client, ...shoots, ...watch };
    this.#running = runHealthChecks({ ...ports, kind: 'Worker', type: 'local', ...options }, this.#stopping.signal);
  }

  /** Stops the library and waits for its end. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopped'));
    await this.clock.run(this.#running);
  }

  async #connectShoot(namespace: string): Promise<ShootConnection> {
    this.connected.push(namespace);
    return { client: this.#client, close: () => void this.closed.push(namespace) };
  }
}
