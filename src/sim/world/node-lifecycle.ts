import { simKinds } from '../kinds.ts';
import type { SimObject } from '../object.ts';
import { formatTime } from '../time.ts';
import { type ActorDeps, type Path, startLoop } from './actor.ts';
import { readyOf, renewTimeOf, setConditions } from './nodes.ts';
import { nodeLeaseNamespace } from './objects.ts';

export interface NodeLifecycleInit {
  readonly path: Path;
  readonly graceMs: () => number;
  readonly onUnknown: (node: string) => void;
}

interface Health {
  readonly heartbeat: string | undefined;
  readonly renewTime: number | undefined;
  /** Monotonic time of the last sign of life, as this controller saw it. */
  readonly probedAt: number;
}

/** Of a node that went silent; `NetworkUnavailable` belongs to others. */
const ownConditions: ReadonlySet<string> = new Set(['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']);

/**
 * The node lifecycle controller of KCM, without taints and evictions: a node that it has seen neither renew its Lease nor post its
 * status for longer than the grace period becomes Unknown. It judges by its own clock from what it saw itself, so its timers start
 * anew when it does (`tryUpdateNodeHealth`).
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/nodelifecycle/node_lifecycle_controller.go
 */
export const startNodeLifecycle = (
  { clock, timing, store }: Omit<ActorDeps, 'random'>,
  { path, graceMs, onUnknown }: NodeLifecycleInit,
): (() => void) => {
  let healths = new Map<string, Health>();
  let lostAt: number | undefined;

  const look = (node: SimObject, known: Health | undefined): Health => {
    const lease = store.get(simKinds.Lease, { namespace: nodeLeaseNamespace, name: node.metadata.name });
    const renewTime = renewTimeOf(lease);
    const heartbeat = readyOf(node)?.lastHeartbeatTime;
    const isRenewed = renewTime !== undefined && (known?.renewTime === undefined || renewTime > known.renewTime);
    const isAlive = known === undefined || known.heartbeat !== heartbeat || isRenewed;
    return { heartbeat, renewTime, probedAt: isAlive ? clock.monotonic() : known.probedAt };
  };

  const markUnknown = (node: SimObject): void => {
    const { name } = node.metadata;
    const time = formatTime(clock.now());
    setConditions(store, name, (conditions) =>
      conditions.map((condition) =>
        ownConditions.has(condition.type) && condition.status !== 'Unknown'
          ? { ...condition, status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime: time }
          : condition,
      ),
    );
    onUnknown(name);
  };

  const monitor = (): void => {
    const next = new Map<string, Health>();
    for (const node of store.list(simKinds.Node)) {
      const health = look(node, healths.get(node.metadata.name));
      next.set(node.metadata.name, health);
      const isOverdue = clock.monotonic() - health.probedAt > graceMs();
      if (isOverdue && readyOf(node)?.status !== 'Unknown') markUnknown(node);
    }
    healths = next;
  };

  return startLoop(clock, 0, () => {
    if (path() !== 'open') {
      lostAt ??= clock.monotonic();
      return timing.monitorPeriodMs;
    }
    // Without its leader lease it has exited, and a new one knows nothing.
    if (lostAt !== undefined && clock.monotonic() - lostAt >= timing.leaderRenewDeadlineMs) healths = new Map();
    lostAt = undefined;
    monitor();
    return timing.monitorPeriodMs;
  });
};
