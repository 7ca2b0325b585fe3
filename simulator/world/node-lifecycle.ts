import { type SimObject, formatTime, simKinds } from '../apiserver/index.ts';
import { type ActorDeps, type Path, startLoop } from './actor.ts';
import { readyOf, renewTimeOf, setConditions } from './nodes.ts';
import { nodeLeaseNamespace } from './objects.ts';

export interface NodeLifecycleInit {
  readonly path: Path;
  readonly graceMs: () => number;
  readonly onUnknown: (node: string) => void;
}

interface Pair {
  readonly node: SimObject;
  readonly lease: SimObject | undefined;
}

/** With what it was read from. */
interface Health extends Pair {
  readonly heartbeat: string | undefined;
  readonly renewTime: number | undefined;
  /** Monotonic time of the last sign of life, as this controller saw it. */
  readonly probedAt: number;
}

/** `tryUpdateNodeHealth` of kubernetes pkg/controller/nodelifecycle. */
const unknown = {
  status: 'Unknown',
  reason: 'NodeStatusUnknown',
  message: 'Kubelet stopped posting node status.',
} as const;

/** Of a node that went silent; `NetworkUnavailable` belongs to others. */
const ownConditions: ReadonlySet<string> = new Set(['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']);

/**
 * The node lifecycle controller of KCM, whose taints are in `node-taints.ts`: a node that it has seen neither renew its Lease nor post its
 * status for longer than the grace period becomes Unknown. It judges by its own clock from what it saw itself, so its timers start
 * anew when it does (`tryUpdateNodeHealth`).
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/nodelifecycle/node_lifecycle_controller.go
 */
export const startNodeLifecycle = (
  { clock, timing, store }: Omit<ActorDeps, 'random'>,
  { path, graceMs, onUnknown }: NodeLifecycleInit,
): (() => void) => {
  const healths = new Map<string, Health>();
  let lostAt: number | undefined;

  const look = ({ node, lease }: Pair, known: Health | undefined): Health => {
    // Objects of the store never change: these say what they said before.
    if (known?.node === node && known.lease === lease) return known;
    const renewTime = renewTimeOf(lease);
    const heartbeat = readyOf(node)?.lastHeartbeatTime;
    const isRenewed = renewTime !== undefined && (known?.renewTime === undefined || renewTime > known.renewTime);
    const isAlive = known === undefined || known.heartbeat !== heartbeat || isRenewed;
    return { node, lease, heartbeat, renewTime, probedAt: isAlive ? clock.monotonic() : known.probedAt };
  };

  const markUnknown = (node: SimObject): void => {
    const { name } = node.metadata;
    const time = formatTime(clock.now());
    setConditions(store, name, (conditions) =>
      conditions.map((condition) =>
        ownConditions.has(condition.type) && condition.status !== 'Unknown'
          ? { ...condition, ...unknown, lastTransitionTime: time }
          : condition,
      ),
    );
    onUnknown(name);
  };

  const forgetAllBut = (nodes: readonly SimObject[]): void => {
    const names = new Set(nodes.map(({ metadata }) => metadata.name));
    for (const name of healths.keys()) if (!names.has(name)) healths.delete(name);
  };

  /** The lists are sorted by name: nearly always the lease stands where its node does. */
  const leaseOf = (name: string, likely: SimObject | undefined): SimObject | undefined =>
    likely?.metadata.name === name ? likely : store.get(simKinds.Lease, { namespace: nodeLeaseNamespace, name });

  const monitor = (): void => {
    const nodes = store.list(simKinds.Node);
    const leases = store.list(simKinds.Lease, nodeLeaseNamespace);
    const grace = graceMs();
    nodes.forEach((node, index) => {
      const { name } = node.metadata;
      const known = healths.get(name);
      const health = look({ node, lease: leaseOf(name, leases[index]) }, known);
      if (health !== known) healths.set(name, health);
      const isOverdue = clock.monotonic() - health.probedAt > grace;
      if (isOverdue && readyOf(node)?.status !== 'Unknown') markUnknown(node);
    });
    if (healths.size > nodes.length) forgetAllBut(nodes);
  };

  return startLoop(clock, 0, () => {
    if (path() !== 'open') {
      lostAt ??= clock.monotonic();
      return timing.monitorPeriodMs;
    }
    // Without its leader lease it has exited, and a new one knows nothing.
    if (lostAt !== undefined && clock.monotonic() - lostAt >= timing.leaderRenewDeadlineMs) healths.clear();
    lostAt = undefined;
    monitor();
    return timing.monitorPeriodMs;
  });
};
