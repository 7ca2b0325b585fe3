import type { HealthCheckController } from '../../../src/healthcheck/check.ts';
import { type ControllerDeps, ObjectController, createClusterWatch } from '../../../src/healthcheck/controller.ts';
import { createHealthCheckMetrics } from '../../../src/healthcheck/report.ts';
import { createWatchRegistry } from '../../../src/kubernetes/cache/index.ts';
import { createKubeClient } from '../../../src/kubernetes/client/index.ts';
import type { Logger } from '../../../src/ports/logger.ts';
import { createMeter } from '../../../src/telemetry/index.ts';
import { type SimDraft, createSimApiServer, customKind, simKinds } from '../../../simulator/apiserver/index.ts';
import { type CountingKube, type FaultRule, withCounting, withFaults } from '../../../simulator/network/index.ts';
import { createSeededRandom, createVirtualClock } from '../../../simulator/time/index.ts';
import { type LogRecord, recordLog } from '../../../simulator/harness/recorded-log.ts';

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

/** Options of the library's controller; without `kind` and `type` it checks Workers of type `local`. */
export interface HealthCheckFixtureOptions extends Omit<HealthCheckController, 'kind' | 'type'> {
  readonly kind?: HealthCheckController['kind'];
  /** By default it connects to the seed. */
  readonly connectShoot?: ControllerDeps['shoots']['clientFor'];
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
  readonly meter = createMeter({ processMetrics: false });
  /** Namespaces whose shoots were connected to. */
  readonly connected: string[] = [];
  /** Namespaces whose shoots are gone, so that their connections are closed. */
  readonly forgotten: string[] = [];
  readonly #kube = withCounting(withFaults(this.seed, { clock: this.clock, rule: (request) => this.#rule?.(request) }));
  readonly #client = createKubeClient({ kube: this.#kube, clock: this.clock });
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  #rule: FaultRule | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor() {
    const { log, logger } = recordLog(this.clock, 'info');
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

  /** Starts the library. */
  start({ connectShoot = this.#connectShoot, ...options }: HealthCheckFixtureOptions): void {
    const { signal } = this.#stopping;
    const { clock, meter } = this;
    const shared = {
      ...{ clock, random: createSeededRandom(1), logger: this.#logger, kube: this.#kube, seed: this.#client },
      registry: createWatchRegistry(meter),
    };
    const clusters = createClusterWatch(shared);
    const shoots = { clientFor: connectShoot, forget: (namespace: string) => void this.forgotten.push(namespace) };
    const deps = { ...shared, clusters, shoots, metrics: createHealthCheckMetrics(meter) };
    const controller = new ObjectController({ kind: 'Worker', type: 'local', ...options }, deps);
    this.#running = Promise.all([clusters.run(signal), controller.run(signal)]);
  }

  /** Stops the library and waits for its end. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopped'));
    await this.clock.run(this.#running);
  }

  readonly #connectShoot: ControllerDeps['shoots']['clientFor'] = async (namespace) => {
    this.connected.push(namespace);
    return this.#client;
  };
}
