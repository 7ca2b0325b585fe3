import { type JsonMap, type SimObject, asList, asMap, formatTime, simKinds } from '../apiserver/index.ts';
import { type ActorDeps, type PathToServer, startLoop } from './actor.ts';
import { readyOf } from './nodes.ts';
import { type ZoneState, evictionIntervalMs, zoneStateOf } from './zone-state.ts';

type Effect = 'NoSchedule' | 'NoExecute';

/** `TaintNodeUnreachable`: taint of a node whose `Ready` is Unknown. */
export const unreachableTaint = 'node.kubernetes.io/unreachable';

const taintsOf = (node: SimObject): readonly JsonMap[] => asList(asMap(node.spec).taints).map(asMap);

export const hasTaint = (node: SimObject, effect: Effect): boolean =>
  taintsOf(node).some((taint) => taint.key === unreachableTaint && taint.effect === effect);

const isUnknown = (node: SimObject): boolean => readyOf(node)?.status === 'Unknown';

/**
 * Taints unreachable nodes as KCM does: NoSchedule at once; NoExecute, which evicts pods, node by node: more slowly or not at all while
 * most nodes are not ready, and never while all are.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/nodelifecycle/node_lifecycle_controller.go
 */
export const startNodeTaints = (
  { clock, timing, store }: Omit<ActorDeps, 'random'>,
  { path }: { readonly path: PathToServer },
): (() => void) => {
  let state: ZoneState = 'normal';
  let evictedAt = Number.NEGATIVE_INFINITY;
  /** The list of nodes when all were ready and without taints. The store returns the same list until a node changes. */
  let healthy: readonly SimObject[] | undefined;

  const setTaint = (node: SimObject, effect: Effect, isWanted: boolean): void => {
    if (hasTaint(node, effect) === isWanted) return;
    store.patch(simKinds.Node, node.metadata, (old) => {
      const { taints: _, ...spec } = asMap(old.spec);
      const others = taintsOf(old).filter((taint) => taint.key !== unreachableTaint || taint.effect !== effect);
      const time = effect === 'NoExecute' ? { timeAdded: formatTime(clock.now()) } : {};
      const taints = isWanted ? [...others, { key: unreachableTaint, effect, ...time }] : others;
      return { ...old, spec: taints.length === 0 ? spec : { ...spec, taints } };
    });
  };

  const evictOneOf = (nodes: readonly SimObject[]): void => {
    const interval = evictionIntervalMs(state, nodes.length, timing.nodeEvictionMs);
    const next = nodes.find((node) => isUnknown(node) && !hasTaint(node, 'NoExecute'));
    if (next === undefined || clock.monotonic() - evictedAt < interval) return;
    evictedAt = clock.monotonic();
    setTaint(next, 'NoExecute', true);
  };

  return startLoop(clock, 0, () => {
    if (path() !== 'open') return timing.monitorPeriodMs;
    const nodes = store.list(simKinds.Node);
    if (nodes === healthy) return timing.monitorPeriodMs;
    const notReady = nodes.filter((node) => readyOf(node)?.status !== 'True').length;
    state = zoneStateOf({ ready: nodes.length - notReady, notReady });
    for (const node of nodes) setTaint(node, 'NoSchedule', isUnknown(node));
    for (const node of store.list(simKinds.Node)) {
      if (!isUnknown(node) || state === 'full-disruption') setTaint(node, 'NoExecute', false);
    }
    evictOneOf(store.list(simKinds.Node));
    healthy = notReady === 0 ? store.list(simKinds.Node) : undefined;
    return timing.monitorPeriodMs;
  });
};
