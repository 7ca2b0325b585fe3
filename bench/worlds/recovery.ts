// Separate process: serves a simulated seed full of crash-looping pods over HTTPS and records their deletions.
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { withCounting } from '../../simulator/network/counting.ts';
import { serve } from '../../simulator/world/serve.ts';
import { type World, createWorld } from '../../simulator/world/world.ts';
import { systemClock } from '../../src/process/clock.ts';
import { type Answers, answerOrders, servedArgs } from '../../test/envtest/served.ts';

/** Arguments of the process. */
export interface RecoveryInit {
  readonly shoots: number;
  readonly etcdService: string;
  /** Number of crash-looping pods of each shoot that depend on the service. */
  readonly podsPerShoot: number;
}

export interface RecoveryReport {
  /** Times at which pods were marked for deletion, in milliseconds since the epoch. */
  readonly deletedAt: readonly number[];
  /** True if a client watches the services. */
  readonly isWatched: boolean;
  /** Number of TCP connections since the start. */
  readonly connections: number;
}

export interface RecoveryProcess extends Answers {
  readonly ready: { readonly kubeconfig: string };
  /** Time at which the services became ready, in milliseconds since the epoch. */
  readonly recover: number;
  readonly report: RecoveryReport;
}

const init = servedArgs() as RecoveryInit;
const { etcdService, podsPerShoot } = init;
const shoots = Array.from({ length: init.shoots }, (_, index) => `shoot--s${String(index)}`);
const clock = systemClock();
/** Times at which pods were marked for deletion, in milliseconds since the epoch. */
const deletedAt: number[] = [];

const setEtcd = ({ store }: World, ready: boolean): void => {
  for (const namespace of shoots) {
    store.put(simKinds.EndpointSlice, {
      metadata: { name: `${etcdService}-abcde`, namespace, labels: { 'kubernetes.io/service-name': etcdService } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }],
    });
    // For programs that do not read EndpointSlices.
    store.put(simKinds.Endpoints, {
      metadata: { name: etcdService, namespace },
      subsets: [{ [ready ? 'addresses' : 'notReadyAddresses']: [{ ip: '10.0.0.1' }] }],
    });
  }
};

const crashPods = ({ store }: World): void => {
  for (const namespace of shoots) {
    for (let index = 0; index < podsPerShoot; index += 1) {
      store.put(simKinds.Pod, {
        metadata: {
          name: `kube-apiserver-${String(index)}`,
          namespace,
          labels: { 'gardener.cloud/role': 'controlplane', role: 'apiserver' },
          ownerReferences: [
            {
              apiVersion: 'apps/v1',
              kind: 'ReplicaSet',
              name: 'kube-apiserver',
              uid: `rs-${namespace}`,
              controller: true,
            },
          ],
        },
        spec: { nodeName: 'node', containers: [{ name: 'kube-apiserver' }] },
        status: {
          phase: 'Running',
          containerStatuses: [{ name: 'kube-apiserver', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
        },
      });
    }
  }
};

const record = ({ store }: World): void => {
  store.subscribe(simKinds.Pod, ({ type, object, previous }) => {
    const isMarked = type === 'MODIFIED' && object.metadata.deletionTimestamp !== undefined;
    if (isMarked && previous?.metadata.deletionTimestamp === undefined) deletedAt.push(clock.now());
  });
};

const world = createWorld({ clock, shoots: [] });
const kube = withCounting(world.api.kube);
const face = await serve({ api: world.api, kube }, clock.now());
setEtcd(world, false);
crashPods(world);
record(world);
answerOrders<RecoveryProcess>(
  { kubeconfig: world.api.kubeconfig() },
  {
    recover: () => {
      const at = clock.now();
      setEtcd(world, true);
      return at;
    },
    report: () => ({
      deletedAt,
      isWatched: ['endpointslices', 'endpoints'].some((resource) => kube.counts.total({ verb: 'watch', resource }) > 0),
      connections: face.connections,
    }),
  },
);
