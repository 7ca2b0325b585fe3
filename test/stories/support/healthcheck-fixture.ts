import { careSeedKinds, extensionKinds } from '../../../simulator/apiserver/care-kinds.ts';
import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { SimDraft } from '../../../simulator/apiserver/store.ts';
import type { LogRecord } from '../../../simulator/harness/recorded-log.ts';
import type { SimulatedComponent, SimulatedReplica } from '../../../simulator/harness/replica.ts';
import { createScenario } from '../../../simulator/harness/scenario.ts';
import type { HealthCheckController } from '../../../src/healthcheck/check.ts';
import { type ControllerDeps, ObjectController, createClusterWatch } from '../../../src/healthcheck/controller.ts';
import { createHealthCheckMetrics } from '../../../src/healthcheck/report.ts';
import { createWatchRegistry } from '../../../src/kubernetes/cache/index.ts';
import { createKubeClient } from '../../../src/kubernetes/client/index.ts';
import type { Runnable } from '../../../src/process/index.ts';

export const workerKind = extensionKinds.get('Worker')!;
export const backupEntryKind = extensionKinds.get('BackupEntry')!;

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

/** Options of the library's controller; without `kind` it checks Workers. The type is `local`. */
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

/** The health-check library in a simulated seed. */
export class HealthCheckFixture {
  readonly #scenario = createScenario({ shoots: [], kinds: careSeedKinds });
  readonly clock = this.#scenario.clock;
  readonly seed = this.#scenario.world;
  readonly requests = this.#scenario.seedConnection.requests;
  readonly setFaults = this.#scenario.seedConnection.setFaults;
  /** Namespaces whose shoots were connected to. */
  readonly connected: string[] = [];
  /** Namespaces whose shoots are gone, so that their connections are closed. */
  readonly forgotten: string[] = [];
  #library: SimulatedReplica<HealthCheckFixtureOptions> | undefined;

  /** Log lines of level warn and above. */
  problems(): readonly LogRecord[] {
    return this.#scenario.log.filter(({ level }) => level !== 'debug' && level !== 'info');
  }

  logged(message: string): readonly LogRecord[] {
    return this.#scenario.log.filter(({ msg }) => msg === message);
  }

  metrics(): Promise<string> {
    return this.#library!.meter.metricsText();
  }

  /** Adds a Worker of type `local`, and its Cluster. */
  addWorker(namespace: string, { metadata = {}, type = 'local', class: ofClass, status = {} }: WorkerInit = {}): void {
    this.hibernate(namespace, false);
    const spec = { type, class: ofClass };
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

  start(settings: HealthCheckFixtureOptions): void {
    this.#library = this.#scenario.start(this.#component, { settings });
  }

  /** Stops the library and waits for its end. */
  stop(): Promise<void> {
    return this.#scenario.stop();
  }

  readonly #component: SimulatedComponent<HealthCheckFixtureOptions> = {
    leaseName: 'extension-local-leader-election',
    urgentInFlight: 1,
    create: ({ settings: { connectShoot, ...options }, ports }) => {
      const { clock, meter, seed: kube } = ports;
      const seed = createKubeClient({ kube, clock });
      const connect: ControllerDeps['shoots']['clientFor'] = async (namespace) => {
        this.connected.push(namespace);
        return seed;
      };
      const shoots = { clientFor: connectShoot ?? connect, forget: (gone: string) => void this.forgotten.push(gone) };
      const registry = createWatchRegistry(meter);
      const shared = { ...ports, kube, seed, shoots, registry, metrics: createHealthCheckMetrics(meter) };
      const clusters = createClusterWatch(shared);
      const controller = new ObjectController({ kind: 'Worker', type: 'local', ...options }, { ...shared, clusters });
      const running = (part: { run(signal: AbortSignal): Promise<void> }): Runnable => ({
        name: 'library',
        run: (signal, ready) => {
          ready();
          return part.run(signal);
        },
      });
      return { caches: running(clusters), controller: running(controller), checks: () => [], apply: async () => false };
    },
  };
}
