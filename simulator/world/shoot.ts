import { parseGoDuration } from '../../src/kubernetes/api/duration.ts';
import { type SimStore, asMap, getPath, simKinds } from '../apiserver/index.ts';
import type { SeededRandom } from '../time/index.ts';
import type { ActorDeps } from './actor.ts';
import { deploymentObject } from './components.ts';
import { whileReady } from './deployments.ts';
import type { WorldServer } from './endpoint.ts';
import { type Fleet, createFleet } from './fleet.ts';
import { startMachineController } from './machines.ts';
import { startNodeLifecycle } from './node-lifecycle.ts';
import {
  type ShootInit,
  type Workload,
  clusterAutoscaler,
  clusterObject,
  crashingAnnotation,
  etcdAnnotation,
  kubeApiserver,
  kubeControllerManager,
  kubeconfigSecretName,
  kubeletsAnnotation,
  machineControllerManager,
  machineObject,
  namespaceObject,
  nodesOf,
  secretObject,
  technicalName,
} from './objects.ts';
import { createCareObjects } from './care.ts';
import { startControlPlane } from './control-plane.ts';
import { type ControlObject, type WorldSource, annotate, annotationOf, controlObjectOf } from './steering.ts';

/** Damage to a shoot, counted by the actors themselves. */
export interface ShootImpact {
  /** How often KCM marked a node Unknown. */
  readonly nodesTurnedUnknown: number;
  /** Monotonic time of the first; undefined if there is none. */
  readonly firstLossAt?: number;
  readonly machinesReplaced: number;
}

export interface WorldShoot {
  readonly name: string;
  /** Namespace of the control plane, which is also the prober's name for the cluster. */
  readonly namespace: string;
  readonly api: WorldServer;
  readonly store: SimStore;
  /** Cuts kubelets off from the API server: those of the named nodes, or all, by the annotation on the Cluster or the Namespace. */
  cutKubelets(nodes?: readonly string[]): void;
  restoreKubelets(): void;
  /** True if all kubelets are cut off by the annotation. */
  isCut(): boolean;
  /** Makes etcd not ready, by an annotation on the same object. This and `crash` have an effect only with `controlPlanePods`. */
  breakEtcd(): void;
  mendEtcd(): void;
  isEtcdDown(): boolean;
  /** Makes the programs of exactly these Deployments exit even if their dependencies are ready, by an annotation on the same object. */
  crash(names: readonly string[]): void;
  /** Puts the current kubeconfig, or any other text, into the Secret that the prober reads. */
  publishKubeconfig(text?: string): void;
  impact(): ShootImpact;
}

/** `store` is the seed's. */
export interface ShootDeps extends Omit<ActorDeps, 'random'> {
  readonly random: SeededRandom;
  readonly api: WorldServer;
  readonly source: WorldSource;
}

/** Components of a control plane without pods. */
const controlPlane = [kubeApiserver, kubeControllerManager, machineControllerManager, clusterAutoscaler];

const workloadOf = ({ workloads = {} }: ShootInit, component: string): Workload =>
  workloads[component] ?? { kind: simKinds.Deployment, name: component };

const populate = ({ store, clock, api, source }: ShootDeps, init: ShootInit): void => {
  const namespace = technicalName(init.name);
  if (store.get(simKinds.Namespace, { name: namespace }) === undefined) {
    store.put(simKinds.Namespace, namespaceObject(namespace));
  }
  store.put(simKinds.Secret, secretObject({ namespace, name: kubeconfigSecretName }, api.kubeconfig()));
  // Components with pods exist already.
  const missing = init.controlPlanePods === true ? [] : controlPlane;
  for (const component of missing) {
    const replicas = init.replicas?.[component] ?? 1;
    const { kind, name } = workloadOf(init, component);
    if (replicas > 0) store.put(kind, deploymentObject(namespace, name, replicas));
  }
  // The Cluster comes last, so that watchers of Clusters find the other objects.
  if (source !== 'secret') store.put(simKinds.Cluster, clusterObject(init, clock.now()));
};

const startMachines = ({ store, clock }: ShootDeps, init: ShootInit, fleet: Fleet): void => {
  const namespace = technicalName(init.name);
  for (let index = 0; index < nodesOf(init); index += 1) {
    const name = fleet.nameFor();
    store.put(simKinds.Machine, machineObject({ namespace, name, phase: 'Running', since: clock.now() }));
    fleet.start(name);
  }
};

const graceIn = (cluster: unknown, fallbackMs: number): number => {
  const path = ['spec', 'shoot', 'spec', 'kubernetes', 'kubeControllerManager', 'nodeMonitorGracePeriod'];
  const text = getPath(cluster, path);
  const duration = typeof text === 'string' ? parseGoDuration(text) : undefined;
  return duration?.ok === true ? duration.value : fallbackMs;
};

/** Runs KCM and MCM while their workloads in the seed have a ready replica. */
const startControllers = (
  deps: ShootDeps,
  parts: { init: ShootInit; shoot: SimStore; fleet: Fleet; cluster: () => unknown },
): { impact(): ShootImpact; stop(): void } => {
  const { store, timing, api } = deps;
  const { init, shoot, fleet, cluster } = parts;
  const namespace = technicalName(init.name);
  const runs = (component: string) => ({ store, namespace, workload: workloadOf(init, component) });
  const path = (): WorldServer['reachability'] => api.reachability;
  let nodesTurnedUnknown = 0;
  let firstLossAt: number | undefined;
  let machinesReplaced = 0;
  const stopManager = whileReady(runs(kubeControllerManager), () =>
    startNodeLifecycle(
      { ...deps, store: shoot },
      {
        path,
        graceMs: () => graceIn(cluster(), timing.graceMs),
        onUnknown: () => {
          nodesTurnedUnknown += 1;
          firstLossAt ??= deps.clock.monotonic();
        },
      },
    ),
  );
  const stopMachines = whileReady(runs(machineControllerManager), () =>
    startMachineController(deps, {
      namespace,
      shoot,
      path,
      fleet,
      onReplaced: () => {
        machinesReplaced += 1;
      },
    }),
  );
  return {
    impact: () => ({ nodesTurnedUnknown, firstLossAt, machinesReplaced }),
    stop: () => {
      stopManager();
      stopMachines();
    },
  };
};

type Switches = 'cutKubelets' | 'restoreKubelets' | 'isCut' | 'breakEtcd' | 'mendEtcd' | 'isEtcdDown' | 'crash';

/** Faults by annotations of the shoot's control object; single kubelets are cut off by the fleet. */
const switchesOf = (store: SimStore, control: ControlObject, fleet: Fleet): Pick<WorldShoot, Switches> => ({
  cutKubelets: (nodes) => {
    if (nodes === undefined) annotate(store, control, { key: kubeletsAnnotation, value: 'cut' });
    else fleet.cut(nodes);
  },
  restoreKubelets: () => {
    fleet.restore();
    annotate(store, control, { key: kubeletsAnnotation });
  },
  isCut: () => annotationOf(store, control, kubeletsAnnotation) === 'cut',
  breakEtcd: () => annotate(store, control, { key: etcdAnnotation, value: 'down' }),
  mendEtcd: () => annotate(store, control, { key: etcdAnnotation }),
  isEtcdDown: () => annotationOf(store, control, etcdAnnotation) === 'down',
  crash: (names) => annotate(store, control, { key: crashingAnnotation, value: names.join(',') || undefined }),
});

/** Creates a shoot in the seed and starts its actors. */
export const createShoot = (deps: ShootDeps, init: ShootInit): { readonly shoot: WorldShoot; stop(): void } => {
  const { api, store, random, source } = deps;
  const namespace = technicalName(init.name);
  const shoot = api.server.store;
  const controlObject = controlObjectOf(source, namespace);
  const initialCluster = clusterObject(init, deps.clock.now());
  const cluster = (): unknown =>
    source === 'secret' ? initialCluster : store.get(simKinds.Cluster, { name: namespace });
  const fleet = createFleet(
    { ...deps, store: shoot, random: random.fork('kubelets') },
    {
      namespace,
      path: () => api.reachability,
      isCutOff: () => annotationOf(store, controlObject, kubeletsAnnotation) === 'cut',
    },
  );
  const stopPods = startControlPlane({ ...deps, steering: controlObject, random: random.fork('pods') }, init);
  populate(deps, init);
  startMachines(deps, init, fleet);
  createCareObjects({ ...deps, shoot }, init);
  const controllers = startControllers(deps, { init, shoot, fleet, cluster });
  return {
    shoot: {
      name: init.name,
      namespace,
      api,
      store: shoot,
      ...switchesOf(store, controlObject, fleet),
      publishKubeconfig: (text = api.kubeconfig()) => {
        const { data, metadata } = secretObject({ namespace, name: kubeconfigSecretName }, text);
        store.patch(simKinds.Secret, metadata, (old) => ({
          ...old,
          data: { ...asMap(old.data), ...asMap(data) },
        }));
      },
      impact: () => controllers.impact(),
    },
    stop: () => {
      stopPods();
      controllers.stop();
      fleet.stop();
    },
  };
};
