import type { ProberStatus, ShootStatus } from '../../src/status/state/schema.ts';
import type { Call } from '../../src/kubernetes/api/call.ts';
import type { CallOptions, KubeClient } from '../../src/kubernetes/api/kube.ts';
import { listNodeLeases } from '../../src/kubernetes/api/lease.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { WorldSource } from '../world/index.ts';
import { type DemoFault, faultCall } from './faults.ts';
import {
  type Faults,
  type InNamespace,
  listDeployments,
  listFaults,
  listMachineNames,
  listNodes,
  listPods,
  listStatefulSets,
  listWeeded,
} from './seed-calls.ts';
import { type ComponentStatus, type NodeStatus, type ShootSnapshot, type StatusSnapshot } from './snapshot.ts';
import { type Pace, kubeApiserver, leaseLimitMs, shownComponents } from './setting.ts';
import { weededNamespaceIn } from './watchdog-logs.ts';

/** A shoot, with a client of its API server. */
export interface WatchedShoot {
  readonly name: string;
  readonly namespace: string;
  readonly client: KubeClient;
}

export interface SourceOptions {
  readonly seed: KubeClient;
  readonly shoots: readonly WatchedShoot[];
  readonly clock: Clock;
  readonly pace: Pace;
  /** Cluster source of the simulated seed. */
  readonly source: WorldSource;
  /** Returns the prober's `GET /status`; undefined while it does not respond. Never rejects. Absent if no prober runs. */
  readonly readStatus?: ((signal: AbortSignal) => Promise<ProberStatus | undefined>) | undefined;
  /** Returns the lines that the weeder has logged since the last call. Absent if it does not run. */
  readonly readWeederLog?: (() => readonly string[]) | undefined;
}

/** A status, and the current faults of each shoot by its name. */
export interface DemoObservation {
  readonly status: StatusSnapshot;
  readonly faults: ReadonlyMap<string, Faults>;
}

const requestTimeoutMs = 5_000;
const noFaults: Faults = { isCut: false, isEtcdDown: false };

const nodesIn = async (shoot: KubeClient, options: CallOptions): Promise<readonly NodeStatus[]> => {
  const [nodes, leases] = await Promise.all([shoot.call(listNodes, options), shoot.call(listNodeLeases, options)]);
  return nodes.value.map((node) => {
    const renewTime = leases.value.find(({ name }) => name === node.name)?.renewTime;
    return { ...node, ...(renewTime === undefined ? {} : { renewedAt: renewTime / 1_000 }) };
  });
};

/** Reads the seed's objects. Each returned function takes a namespace. */
const readSeed = async (seed: KubeClient, source: WorldSource, options: CallOptions) => {
  const list = async <T>(call: Call<readonly InNamespace<T>[]>): Promise<(namespace: string) => readonly T[]> => {
    const { value: items } = await seed.call(call, options);
    return (namespace) => items.filter((item) => item.namespace === namespace).map(({ value }) => value);
  };
  const [faults, deployments, statefulSets, machines, pods, weeded] = await Promise.all([
    list(listFaults(source)),
    list(listDeployments),
    list(listStatefulSets),
    source === 'gardener' ? list(listMachineNames) : undefined,
    list(listPods),
    list(listWeeded),
  ]);
  const components = (namespace: string): readonly ComponentStatus[] =>
    [...statefulSets(namespace), ...deployments(namespace)]
      .filter(({ name }) => shownComponents.includes(name))
      .toSorted((a, b) => shownComponents.indexOf(a.name) - shownComponents.indexOf(b.name));
  return { faults, components, machines, pods, weeded };
};

/** Takes status snapshots of the simulated seed from its API servers and the watchdogs' logs. */
export class StatusSource {
  readonly #options: SourceOptions;
  /** What the prober has told last of each shoot, by namespace. */
  #told: ReadonlyMap<string, ShootStatus> = new Map();
  #isAsking = false;
  /** Namespaces that the weeder watches. */
  readonly #weeding = new Set<string>();
  /** Names of nodes by namespace, as last read. They stand in for Machines if the seed does not serve these. */
  readonly #nodes = new Map<string, readonly string[]>();

  constructor(options: SourceOptions) {
    this.#options = options;
  }

  get shoots(): readonly WatchedShoot[] {
    return this.#options.shoots;
  }

  /** True if each running watchdog observes every shoot. */
  get isWatched(): boolean {
    const { shoots, readStatus, readWeederLog } = this.#options;
    const seen = [...this.#told.values()].filter(({ lookedAt }) => lookedAt !== undefined);
    return (
      (readStatus === undefined || seen.length >= shoots.length) &&
      (readWeederLog === undefined || this.#weeding.size >= shoots.length)
    );
  }

  /** Rejects with an ApiError. */
  async observe(signal: AbortSignal): Promise<DemoObservation> {
    const { seed, shoots, clock, pace, source } = this.#options;
    const options = { signal, timeoutMs: requestTimeoutMs };
    const objects = await readSeed(seed, source, options);
    this.#readLog();
    this.#askProber(signal);
    const observed = await Promise.all(
      shoots.map(async ({ name, namespace, client }): Promise<ShootSnapshot> => {
        const components = objects.components(namespace);
        const answers = components.some((one) => one.name === kubeApiserver && one.readyReplicas > 0);
        const nodes = answers ? await nodesIn(client, options) : [];
        if (answers) {
          this.#nodes.set(
            namespace,
            nodes.map((node) => node.name),
          );
        }
        return {
          name,
          ...this.#stateOf(namespace),
          answers,
          nodes,
          components,
          machines: objects.machines?.(namespace) ?? this.#nodes.get(namespace) ?? [],
          pods: objects.pods(namespace),
          weeded: objects.weeded(namespace).filter((pod) => pod !== undefined),
        };
      }),
    );
    return {
      status: {
        at: clock.now(),
        leaseExpiryMs: leaseLimitMs(pace),
        shoots: observed,
      },
      faults: new Map(shoots.map(({ name, namespace }) => [name, objects.faults(namespace)[0] ?? noFaults])),
    };
  }

  /** Reads the current faults of each shoot, by its namespace. Rejects with an ApiError. */
  async faults(signal: AbortSignal): Promise<ReadonlyMap<string, Faults>> {
    const { seed, source } = this.#options;
    const { value } = await seed.call(listFaults(source), { signal, timeoutMs: requestTimeoutMs });
    return new Map(value.map(({ namespace, value: faults }) => [namespace, faults]));
  }

  /** Rejects with an ApiError. */
  async inject({ kind, shoot }: DemoFault, signal: AbortSignal): Promise<void> {
    const known = this.shoots.find(({ name }) => name === shoot);
    if (known === undefined) throw new Error(`no shoot ${shoot} in the demo`);
    await this.injectInto(known.namespace, kind, signal);
  }

  /** Injects a fault into any shoot of the seed, by its namespace. Rejects with an ApiError. */
  async injectInto(namespace: string, kind: DemoFault['kind'], signal: AbortSignal): Promise<void> {
    const { seed, source } = this.#options;
    await seed.call(faultCall(kind, namespace, source), { signal, timeoutMs: requestTimeoutMs });
  }

  /** Asks the prober without waiting for it: it builds its status at most once a second. */
  #askProber(signal: AbortSignal): void {
    const { readStatus } = this.#options;
    if (readStatus === undefined || this.#isAsking) return;
    this.#isAsking = true;
    void readStatus(signal).then((status) => {
      this.#isAsking = false;
      if (status !== undefined) this.#told = new Map(status.shoots.map((shoot) => [shoot.namespace, shoot]));
    });
  }

  #readLog(): void {
    for (const text of this.#options.readWeederLog?.() ?? []) {
      const namespace = weededNamespaceIn(text);
      if (namespace !== undefined) this.#weeding.add(namespace);
    }
  }

  #stateOf(namespace: string): Pick<ShootSnapshot, 'state' | 'since' | 'why'> {
    const told = this.#told.get(namespace);
    if (told === undefined) return { state: 'not probed' };
    return { state: told.state, why: told.why, ...(told.since === undefined ? {} : { since: Date.parse(told.since) }) };
  }
}
