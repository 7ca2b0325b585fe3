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
  /** Factor of the kubelet's usual times. */
  readonly scale: number;
  /** True if every other node's clock is five minutes fast, and the others are five minutes slow. */
  readonly areClocksWrong: boolean;
}

const fiveMinutesMs = 300_000;

const clockShiftMs = ({ nodes, areClocksWrong }: KubeletsOptions, node: string): number => {
  if (!areClocksWrong) return 0;
  return nodes.indexOf(node) % 2 === 0 ? fiveMinutesMs : -fiveMinutesMs;
};

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
/** The kubelet's default `--node-lease-duration-seconds`. */
const leaseDurationSeconds = 40;
/** A kubelet renews after a quarter of the lease duration, with jitter (lease/controller.go). */
const renewMs = 10_000;
const renewJitter = 0.04;

const renew = (options: KubeletsOptions, node: string): Promise<unknown> => {
  const renewTime = formatMicroTime(Date.now() + clockShiftMs(options, node));
  const spec = { renewTime, leaseDurationSeconds: leaseDurationSeconds * options.scale };
  return options.shoot.patch(`${leases}/${node}`, { spec });
};

/** Patches the status that a kubelet reports when it starts or returns. */
const reportReady = (options: KubeletsOptions, node: string): Promise<unknown> => {
  const time = formatTime(Date.now() + clockShiftMs(options, node));
  const condition = (type: string, status: string) => ({
    type,
    status,
    reason: 'KubeletIsSimulated',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  });
  const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => condition(type, 'False'));
  return options.shoot.patch(`/api/v1/nodes/${node}/status`, {
    status: { conditions: [...pressures, condition('Ready', 'True')] },
  });
};

interface RenewedLease {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly renewTime: string };
}

/** Makes all nodes ready and starts to renew their leases, each in a random phase. Resolves when all are ready. */
export const startKubelets = async (options: KubeletsOptions): Promise<ArenaKubelets> => {
  const { shoot, nodes, scale } = options;
  let stop = new AbortController();
  let running: Promise<void>[] = [];
  const run = async (node: string, isBack: boolean, { signal } = stop): Promise<void> => {
    let delayMs = Math.random() * renewMs * scale;
    let mustReport = isBack;
    while (!signal.aborted) {
      try {
        await sleep(delayMs, undefined, { signal });
      } catch {
        return;
      }
      await renew(options, node);
      if (mustReport) await reportReady(options, node);
      mustReport = false;
      delayMs = renewMs * scale * (1 + renewJitter * Math.random());
    }
  };
  for (const node of nodes) {
    await renew(options, node);
    await reportReady(options, node);
    running.push(run(node, false));
  }
  return {
    cut: async () => {
      stop.abort();
      await Promise.all(running);
      [stop, running] = [new AbortController(), []];
      const items = await shoot.list<RenewedLease>(leases);
      return items.map(({ metadata, spec }) => Date.parse(spec.renewTime) - clockShiftMs(options, metadata.name));
    },
    restore: (names) => void running.push(...names.map((node) => run(node, true))),
  };
};
