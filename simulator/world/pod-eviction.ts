import { type SimObject, asList, asMap, formatTime, getPath, simKinds } from '../apiserver/index.ts';
import { type ActorDeps, type PathToServer, startLoop } from './actor.ts';
import { hasTaint, unreachableTaint } from './node-taints.ts';

/** How long a pod stays on an unreachable node, in milliseconds. Infinity: it is never evicted, like the pods of a DaemonSet. */
const tolerationMs = (pod: SimObject, defaultMs: number): number => {
  const tolerations = asList(getPath(pod, ['spec', 'tolerations'])).map(asMap);
  const found = tolerations.find(
    ({ key, effect }) => (key === undefined || key === unreachableTaint) && (effect ?? 'NoExecute') === 'NoExecute',
  );
  // The API server's admission adds such a toleration to each pod (DefaultTolerationSeconds).
  if (found === undefined) return defaultMs;
  const seconds = found.tolerationSeconds;
  return typeof seconds === 'number' ? seconds * 1_000 : Number.POSITIVE_INFINITY;
};

/**
 * Evicts pods as KCM does: deletes each pod of a node with the taint NoExecute after its toleration time, counted from when this process
 * first saw the taint. The pods stay `Terminating`, because the node's kubelet is cut off.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/tainteviction/taint_eviction.go
 */
export const startPodEviction = (
  { clock, timing, store }: Omit<ActorDeps, 'random'>,
  { path }: { readonly path: PathToServer },
): (() => void) => {
  let taintedAt = new Map<string, number>();
  /** The list of nodes when none was tainted. The store returns the same list until a node changes. */
  let untainted: readonly SimObject[] | undefined;

  const evict = (pod: SimObject): void => {
    store.patch(simKinds.Pod, pod.metadata, (old) => ({
      ...old,
      metadata: { ...old.metadata, deletionTimestamp: formatTime(clock.now()), deletionGracePeriodSeconds: 30 },
    }));
  };

  const evictPods = (node: SimObject, since: number): void => {
    for (const pod of store.list(simKinds.Pod)) {
      if (getPath(pod, ['spec', 'nodeName']) !== node.metadata.name) continue;
      if (pod.metadata.deletionTimestamp !== undefined) continue;
      if (clock.monotonic() - since >= tolerationMs(pod, timing.podTolerationMs)) evict(pod);
    }
  };

  return startLoop(clock, 0, () => {
    if (path() !== 'open') return timing.monitorPeriodMs;
    const nodes = store.list(simKinds.Node);
    if (nodes === untainted) return timing.monitorPeriodMs;
    const tainted = nodes.filter((node) => hasTaint(node, 'NoExecute'));
    untainted = tainted.length === 0 ? nodes : undefined;
    taintedAt = new Map(
      tainted.map(({ metadata: { name } }) => [name, taintedAt.get(name) ?? clock.monotonic()] as const),
    );
    for (const node of tainted) evictPods(node, taintedAt.get(node.metadata.name) ?? clock.monotonic());
    return timing.monitorPeriodMs;
  });
};
