import { type SimObject, asList, asMap, formatTime, getPath, simKinds } from '../apiserver/index.ts';
import { type ActorDeps, type PathToServer, startLoop } from './actor.ts';
import { hasTaint, unreachableTaint } from './node-taints.ts';

/** How long a pod stays on an unreachable node, in milliseconds. Infinity: for ever, as those of a DaemonSet. */
const tolerationMs = (pod: SimObject, defaultMs: number): number => {
  const tolerations = asList(getPath(pod, ['spec', 'tolerations'])).map(asMap);
  const found = tolerations.find(
    ({ key, effect }) => (key === undefined || key === unreachableTaint) && (effect ?? 'NoExecute') === 'NoExecute',
  );
  // The API server's admission gives each pod one (DefaultTolerationSeconds).
  if (found === undefined) return defaultMs;
  const seconds = found.tolerationSeconds;
  return typeof seconds === 'number' ? seconds * 1_000 : Number.POSITIVE_INFINITY;
};

/**
 * The eviction of KCM: deletes the pods of a node with the taint NoExecute, each after the time for which it tolerates that, counted from
 * when this process saw it. The node's kubelet is cut off, and so they stay `Terminating`.
 * https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/tainteviction/taint_eviction.go
 */
export const startPodEviction = (
  { clock, timing, store }: Omit<ActorDeps, 'random'>,
  { path }: { readonly path: PathToServer },
): (() => void) => {
  let taintedAt = new Map<string, number>();
  /** Without taints: the store hands out the same list until a node changes. */
  let untainted: readonly SimObject[] | undefined;

  const evict = (pod: SimObject): void => {
    store.patch(simKinds.Pod, pod.metadata, (old) => ({
      ...old,
      metadata: { ...old.metadata, deletionTimestamp: formatTime(clock.now()), deletionGracePeriodSeconds: 30 },
    }));
  };

  const look = (node: SimObject, since: number): void => {
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
    for (const node of tainted) look(node, taintedAt.get(node.metadata.name) ?? clock.monotonic());
    return timing.monitorPeriodMs;
  });
};
