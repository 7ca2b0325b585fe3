import { type SimObject, formatTime, simKinds } from '../apiserver/index.ts';
import { type ActorDeps, type PathToServer, startLoop } from './actor.ts';
import { readyOf, renewTimeOf, setConditions } from './nodes.ts';
import { nodeLeaseNamespace } from './objects.ts';

type Deps = Omit<ActorDeps, 'random'>;

export interface NodeLifecycleInit {
  readonly path: PathToServer;
  readonly graceMs: () => number;
  readonly onUnknown: () => void;
}

interface Pair {
  readonly node: SimObject;
  readonly lease: SimObject | undefined;
}

/** Health of a node, with the objects that it was read from. */
interface Health extends Pair {
  readonly heartbeat: string | undefined;
  readonly renewTime: number | undefined;
  /** Monotonic time of the last sign of life, as this controller saw it. */
  readonly probedAt: number;
}

/** Condition of a silent node (`tryUpdateNodeHealth` in kubernetes pkg/controller/nodelifecycle). */
const unknown = {
  status: 'Unknown',
  reason: 'NodeStatusUnknown',
  message: 'Kubelet stopped posting node status.',
} as const;

/** Conditions of a silent node that become Unknown. `NetworkUnavailable` is not among them. */
const ownConditions: ReadonlySet<string> = new Set(['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']);

/**
 * The node lifecycle controller of KCM, without its taints. A node becomes Unknown if the controller saw neither a
 * renewal of its Lease nor a status report for longer than the grace period. The controller judges by its own clock and by what it saw
 * itself, so its timers restart with it (`tryUpdateNodeHealth`).
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/nodelifecycle/node_lifecycle_controller.go
 */
class NodeLifecycle {
  readonly #deps: Deps;
  readonly #init: NodeLifecycleInit;
  readonly #healths = new Map<string, Health>();

  constructor(deps: Deps, init: NodeLifecycleInit) {
    this.#deps = deps;
    this.#init = init;
  }

  monitor(): void {
    const { clock, store } = this.#deps;
    const nodes = store.list(simKinds.Node);
    const leases = store.list(simKinds.Lease, nodeLeaseNamespace);
    const grace = this.#init.graceMs();
    nodes.forEach((node, index) => {
      const { name } = node.metadata;
      const known = this.#healths.get(name);
      const health = this.#observe({ node, lease: this.#leaseOf(name, leases[index]) }, known);
      if (health !== known) this.#healths.set(name, health);
      const isOverdue = clock.monotonic() - health.probedAt > grace;
      if (isOverdue && readyOf(node)?.status !== 'Unknown') this.#markUnknown(node);
    });
    if (this.#healths.size > nodes.length) this.#forgetAllBut(nodes);
  }

  forget(): void {
    this.#healths.clear();
  }

  /** Both lists are sorted by name, so a lease nearly always has the same index as its node. */
  #leaseOf(name: string, likely: SimObject | undefined): SimObject | undefined {
    if (likely?.metadata.name === name) return likely;
    return this.#deps.store.get(simKinds.Lease, { namespace: nodeLeaseNamespace, name });
  }

  #observe({ node, lease }: Pair, known: Health | undefined): Health {
    // Objects of the store are immutable: the same objects mean the same health.
    if (known?.node === node && known.lease === lease) return known;
    const renewTime = renewTimeOf(lease);
    const heartbeat = readyOf(node)?.lastHeartbeatTime;
    const isRenewed = renewTime !== undefined && (known?.renewTime === undefined || renewTime > known.renewTime);
    const isAlive = known === undefined || known.heartbeat !== heartbeat || isRenewed;
    const probedAt = isAlive ? this.#deps.clock.monotonic() : known.probedAt;
    return { node, lease, heartbeat, renewTime, probedAt };
  }

  #markUnknown({ metadata: { name } }: SimObject): void {
    const { clock, store } = this.#deps;
    const change = { ...unknown, lastTransitionTime: formatTime(clock.now()) };
    setConditions(store, name, (conditions) =>
      conditions.map((condition) => {
        const isLost = ownConditions.has(condition.type) && condition.status !== 'Unknown';
        return isLost ? { ...condition, ...change } : condition;
      }),
    );
    this.#init.onUnknown();
  }

  #forgetAllBut(nodes: readonly SimObject[]): void {
    const names = new Set(nodes.map(({ metadata }) => metadata.name));
    for (const name of this.#healths.keys()) if (!names.has(name)) this.#healths.delete(name);
  }
}

export const startNodeLifecycle = (deps: Deps, init: NodeLifecycleInit): (() => void) => {
  const { clock, timing } = deps;
  const lifecycle = new NodeLifecycle(deps, init);
  let lostAt: number | undefined;
  return startLoop(clock, 0, () => {
    if (init.path() !== 'open') {
      lostAt ??= clock.monotonic();
      return timing.monitorPeriodMs;
    }
    // KCM exits when it loses its leader lease, and a new process starts without history.
    if (lostAt !== undefined && clock.monotonic() - lostAt >= timing.leaderRenewDeadlineMs) lifecycle.forget();
    lostAt = undefined;
    lifecycle.monitor();
    return timing.monitorPeriodMs;
  });
};
