import { setTimeout as sleep } from 'node:timers/promises';
import { formatMicroTime, formatTime } from '../../simulator/apiserver/time.ts';
import type { TestClient } from '../../test/envtest/client.ts';

/** Kubelets, reduced to the objects that KCM and the prober read: one Lease and one status per node. */
export interface ArenaKubelets {
  /** Stops all renewals. Resolves when pending renewals have ended, with the time of each node's last one (milliseconds since the epoch). */
  cut(): Promise<readonly number[]>;
  /** Lets the kubelets of these nodes renew again, each in a random phase. */
  restore(nodes: readonly string[]): void;
}

export interface KubeletsOptions {
  readonly shoot: TestClient;
  readonly nodes: readonly string[];
  /** Error of each node's clock, in the order of `nodes`. */
  readonly clockShiftsMs: readonly number[];
  /** Factor of the kubelet's usual times. */
  readonly scale: number;
}

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
/** The kubelet's default `--node-lease-duration-seconds`. */
const leaseDurationSeconds = 40;
/** A kubelet renews after a quarter of the lease duration, with jitter (lease/controller.go). */
const renewMs = 10_000;
const renewJitter = 0.04;

interface Kubelet extends Omit<KubeletsOptions, 'nodes' | 'clockShiftsMs'> {
  readonly node: string;
  readonly clockShiftMs: number;
}

const renew = ({ shoot, node, clockShiftMs, scale }: Kubelet): Promise<unknown> => {
  const renewTime = formatMicroTime(Date.now() + clockShiftMs);
  const spec = { renewTime, leaseDurationSeconds: leaseDurationSeconds * scale };
  return shoot.patch(`${leases}/${node}`, { spec });
};

/** Patches the status that a kubelet reports when it starts or returns. */
const reportReady = ({ shoot, node, clockShiftMs }: Kubelet): Promise<unknown> => {
  const time = formatTime(Date.now() + clockShiftMs);
  const condition = (type: string, status: string) => ({
    type,
    status,
    reason: 'KubeletIsSimulated',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  });
  const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => condition(type, 'False'));
  return shoot.patch(`/api/v1/nodes/${node}/status`, {
    status: { conditions: [...pressures, condition('Ready', 'True')] },
  });
};

const run = async (kubelet: Kubelet, isBack: boolean, signal: AbortSignal): Promise<void> => {
  const { scale } = kubelet;
  let delayMs = Math.random() * renewMs * scale;
  let mustReport = isBack;
  while (!signal.aborted) {
    try {
      await sleep(delayMs, undefined, { signal });
    } catch {
      return;
    }
    await renew(kubelet);
    if (mustReport) await reportReady(kubelet);
    mustReport = false;
    delayMs = renewMs * scale * (1 + renewJitter * Math.random());
  }
};

/** Makes all nodes ready and starts to renew their leases, each in a random phase. Resolves when all are ready. */
export const startKubelets = async ({ nodes, clockShiftsMs, ...shared }: KubeletsOptions): Promise<ArenaKubelets> => {
  const kubelets = nodes.map((node, index): Kubelet => ({ ...shared, node, clockShiftMs: clockShiftsMs[index] ?? 0 }));
  let stop = new AbortController();
  let running: Promise<void>[] = [];
  for (const kubelet of kubelets) {
    await renew(kubelet);
    await reportReady(kubelet);
  }
  const start = (some: readonly Kubelet[], isBack: boolean): void =>
    void running.push(...some.map((kubelet) => run(kubelet, isBack, stop.signal)));
  start(kubelets, false);
  return {
    cut: async () => {
      stop.abort();
      await Promise.all(running);
      [stop, running] = [new AbortController(), []];
      return lastRenewals(shared.shoot, kubelets);
    },
    restore: (names) =>
      start(
        kubelets.filter(({ node }) => names.includes(node)),
        true,
      ),
  };
};

/** Times of the last renewals by the clock of this machine, in milliseconds since the epoch. */
const lastRenewals = async (shoot: TestClient, kubelets: readonly Kubelet[]): Promise<readonly number[]> => {
  interface Lease {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly renewTime: string };
  }
  const items = await shoot.list<Lease>(leases);
  const shiftOf = new Map(kubelets.map(({ node, clockShiftMs }) => [node, clockShiftMs]));
  return items.map(({ metadata, spec }) => Date.parse(spec.renewTime) - (shiftOf.get(metadata.name) ?? 0));
};
