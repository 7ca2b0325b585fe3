import { type SimObject, asMap, formatMicroTime, getPath, simKinds } from '../apiserver/index.ts';
import { type ActorDeps, type Path, startLoop } from './actor.ts';
import { readyOf, setConditions } from './nodes.ts';
import { healthyConditions, leaseObject, nodeLeaseNamespace, nodeObject } from './objects.ts';

export interface KubeletInit {
  readonly name: string;
  readonly pool: string;
  readonly path: Path;
  /** When it comes up; it registers its node then. Absent: it has been running for long, and its node is there. */
  readonly bootMs?: number;
}

/** `wait.JitterUntil(..., 0.04, ...)` in k8s.io/component-helpers/apimachinery/lease/controller.go. */
const renewJitter = 0.04;
/** `backoffEnsureLease` of the same file. */
const firstBackoffMs = 200;
const longestBackoffMs = 7_000;

/**
 * A kubelet, as far as others see it: it renews its node's Lease and reports the node ready. Where the path is silent, each try hangs
 * until its time-out and the next one follows at once; where the connection is refused, tries back off. So it does not come back the
 * moment the path does. https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/kubelet_node_status.go
 */
export const startKubelet = ({ clock, random, timing, store }: ActorDeps, init: KubeletInit): (() => void) => {
  const { name, pool, path } = init;
  const renewMs = timing.leaseRenewMs;
  let failures = 0;
  let reportedAt = clock.monotonic();
  /** Its node when it was last seen to be ready; the store hands out the same object until it changes. */
  let ready: SimObject | undefined;

  const renew = (): void => {
    const renewTime = formatMicroTime(clock.now());
    const lease = store.patch(simKinds.Lease, { namespace: nodeLeaseNamespace, name }, (old) => ({
      ...old,
      spec: { ...asMap(old.spec), renewTime },
    }));
    if (lease === undefined) store.put(simKinds.Lease, leaseObject(name, { renewedAt: clock.now(), renewMs }));
  };

  /** Those that were deleted while it was cut off. */
  const endDeletedPods = (): void => {
    for (const pod of store.list(simKinds.Pod)) {
      const isOwn = getPath(pod, ['spec', 'nodeName']) === name;
      if (isOwn && pod.metadata.deletionTimestamp !== undefined) store.remove(simKinds.Pod, pod.metadata);
    }
  };

  const report = (): void => {
    const node = store.get(simKinds.Node, { name });
    const isDue = clock.monotonic() - reportedAt >= timing.statusReportMs;
    if (node === undefined || (!isDue && node === ready)) return;
    ready = readyOf(node)?.status === 'True' ? node : undefined;
    if (!isDue && ready !== undefined) return;
    setConditions(store, name, (before) => healthyConditions(clock.now(), before));
    endDeletedPods();
    reportedAt = clock.monotonic();
  };

  const beat = (): number => {
    switch (path()) {
      case 'silent':
        return timing.heartbeatTimeoutMs;
      case 'refused':
        failures += 1;
        return Math.min(firstBackoffMs * 2 ** (failures - 1), longestBackoffMs);
      case 'open':
        failures = 0;
        if (isNew) store.put(simKinds.Node, nodeObject(name, pool, clock.now()));
        isNew = false;
        renew();
        report();
        return timing.leaseRenewMs * (1 + renewJitter * random.next());
    }
  };

  let isNew = init.bootMs !== undefined;
  const ageMs = random.next() * timing.leaseRenewMs;
  if (!isNew) {
    store.put(simKinds.Node, nodeObject(name, pool, clock.now()));
    store.put(simKinds.Lease, leaseObject(name, { renewedAt: clock.now() - ageMs, renewMs }));
  }
  return startLoop(clock, init.bootMs ?? timing.leaseRenewMs - ageMs, beat);
};
