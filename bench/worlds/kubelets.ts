import type { Clock } from '../../src/ports/clock.ts';
import type { Random } from '../../src/ports/random.ts';
import type { TestClient } from '../../test/envtest/client.ts';

/** As far as KCM and the prober can see them: one Lease and one status per node. */
export interface Kubelets {
  /** Nobody renews any more. Resolves, when renewals under way have ended, with each node's last one (milliseconds since the epoch). */
  cut(): Promise<readonly number[]>;
}

export interface KubeletsOptions {
  readonly shoot: TestClient;
  readonly nodes: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
}

const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
/** The kubelet's `--node-lease-duration-seconds` of 40 times 0.25, and the jitter of its renewals (lease/controller.go). */
const renewMs = 10_000;
const renewJitter = 0.04;

const renew = ({ shoot, clock }: KubeletsOptions, node: string): Promise<unknown> => {
  const renewTime = new Date(clock.now()).toISOString().replace('Z', '000Z');
  return shoot.patch(`${leases}/${node}`, { spec: { renewTime } });
};

/** What a kubelet posts when it comes (back) up. */
const reportReady = ({ shoot, clock }: KubeletsOptions, node: string): Promise<unknown> => {
  const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
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

const lastRenewals = async (shoot: TestClient): Promise<readonly number[]> => {
  const items = await shoot.list<{ readonly spec: { readonly renewTime: string } }>(leases);
  return items.map(({ spec }) => Date.parse(spec.renewTime));
};

/** Makes all nodes ready and renews their leases from now on, each in a random phase. Resolves when all are ready. */
export const startKubelets = async (options: KubeletsOptions): Promise<Kubelets> => {
  const { shoot, nodes, clock, random } = options;
  const stop = new AbortController();

  const run = async (node: string): Promise<void> => {
    let delay = random.next() * renewMs;
    while (!stop.signal.aborted) {
      try {
        await clock.sleep(delay, stop.signal);
      } catch {
        return;
      }
      await renew(options, node);
      delay = renewMs * (1 + renewJitter * random.next());
    }
  };

  for (const node of nodes) {
    await renew(options, node);
    await reportReady(options, node);
  }
  const running = Promise.all(nodes.map(run));
  return {
    cut: async () => {
      stop.abort();
      await running;
      return lastRenewals(shoot);
    },
  };
};

/** How many nodes are not known to be ready, for KCM said so. */
export const countUnknown = async (shoot: TestClient): Promise<number> => {
  interface Node {
    readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
  }
  const nodes = await shoot.list<Node>('/api/v1/nodes');
  return nodes.filter(({ status }) =>
    status.conditions.some(({ type, status: value }) => type === 'Ready' && value === 'Unknown'),
  ).length;
};
