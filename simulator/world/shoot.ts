import { parseGoDuration } from '../../src/kubernetes/api/duration.ts';
import { type SimObject, type SimStore, asMap, getPath, simKinds } from '../apiserver/index.ts';
import type { SeededRandom } from '../time/index.ts';
import type { ActorDeps } from './actor.ts';
import { startApiServerStatus } from './api-server-status.ts';
import { startClusterAutoscaler } from './cluster-autoscaler.ts';
import { annotateCluster, annotationOf } from './clusters.ts';
import { whileReady } from './deployments.ts';
import type { WorldServer } from './endpoint.ts';
import { type Fleet, createFleet } from './fleet.ts';
import { startMachineController } from './machines.ts';
import { startNodeLifecycle } from './node-lifecycle.ts';
import { startNodeTaints } from './node-taints.ts';
import {
  type ShootInit,
  clusterAutoscaler,
  clusterObject,
  deploymentObject,
  kubeApiserver,
  kubeControllerManager,
  kubeconfigSecret,
  kubeletsAnnotation,
  machineControllerManager,
  machineObject,
  namespaceObject,
  poolsOf,
  technicalName,
} from './objects.ts';
import { startPodEviction } from './pod-eviction.ts';
import { startShootCare } from './shoot-care.ts';
import { type ShootPods, startShootPods } from './shoot-pods.ts';

/** What went wrong in a shoot, counted by the actors themselves. */
export interface ShootImpact {
  /** Times that KCM gave up a node. */
  readonly nodesTurnedUnknown: number;
  readonly machinesReplaced: number;
}

export interface WorldShoot extends ShootPods {
  readonly name: string;
  /** Of its control plane in the seed; also the name of its Cluster. */
  readonly namespace: string;
  readonly api: WorldServer;
  readonly store: SimStore;
  /** Keeps kubelets from the API server: the named nodes' or, without names, all (as the annotation on the Cluster does). */
  cutKubelets(nodes?: readonly string[]): void;
  restoreKubelets(): void;
  /** Puts the kubeconfig of now, or any other text, into the Secret that the prober reads. */
  publishKubeconfig(text?: string): void;
  impact(): ShootImpact;
}

/** `store` is the seed's. */
export interface ShootDeps extends Omit<ActorDeps, 'random'> {
  readonly random: SeededRandom;
  readonly api: WorldServer;
}

/** What there is of a control plane without pods. */
const controlPlane = [kubeApiserver, kubeControllerManager, machineControllerManager, clusterAutoscaler];

const populate = ({ store, clock, api }: ShootDeps, init: ShootInit): void => {
  const namespace = technicalName(init.name);
  store.put(simKinds.Namespace, namespaceObject(namespace));
  store.put(simKinds.Secret, kubeconfigSecret(namespace, api.kubeconfig()));
  // Those with pods are there already.
  const deployments = init.controlPlanePods === true ? [] : controlPlane;
  for (const name of deployments) {
    const replicas = init.replicas?.[name] ?? 1;
    if (replicas > 0) store.put(simKinds.Deployment, deploymentObject(namespace, name, replicas));
  }
  // Last, so that whoever hears of the Cluster finds the rest.
  store.put(simKinds.Cluster, clusterObject(init, clock.now()));
};

const startMachines = ({ store, clock }: ShootDeps, init: ShootInit, fleet: Fleet): void => {
  const namespace = technicalName(init.name);
  for (const { name: pool, nodes } of poolsOf(init)) {
    for (let index = 0; index < nodes; index += 1) {
      const name = fleet.nameFor(pool);
      store.put(simKinds.Machine, machineObject({ namespace, name, pool, phase: 'Running', since: clock.now() }));
      fleet.start(name, pool);
    }
  }
};

const graceIn = (cluster: SimObject | undefined, fallbackMs: number): number => {
  const path = ['spec', 'shoot', 'spec', 'kubernetes', 'kubeControllerManager', 'nodeMonitorGracePeriod'];
  const text = getPath(cluster, path);
  const duration = typeof text === 'string' ? parseGoDuration(text) : undefined;
  return duration?.ok === true ? duration.value : fallbackMs;
};

/** KCM, MCM and the cluster-autoscaler live while their Deployments in the seed are ready. */
const startControllers = (
  deps: ShootDeps,
  parts: { namespace: string; shoot: SimStore; fleet: Fleet; cluster: () => SimObject | undefined },
): { impact(): ShootImpact; stop(): void } => {
  const { store, timing, api } = deps;
  const { namespace, shoot, fleet, cluster } = parts;
  const path = (): WorldServer['reachability'] => api.reachability;
  let nodesTurnedUnknown = 0;
  let machinesReplaced = 0;
  const stopManager = whileReady({ store, ref: { namespace, name: kubeControllerManager } }, () => {
    const shootDeps = { ...deps, store: shoot };
    const loops = [
      startNodeLifecycle(shootDeps, {
        path,
        graceMs: () => graceIn(cluster(), timing.graceMs),
        onUnknown: () => {
          nodesTurnedUnknown += 1;
        },
      }),
      startNodeTaints(shootDeps, { path }),
      startPodEviction(shootDeps, { path }),
    ];
    return () => {
      for (const stop of loops) stop();
    };
  });
  const stopMachines = whileReady({ store, ref: { namespace, name: machineControllerManager } }, () =>
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
  const stopAutoscaler = whileReady({ store, ref: { namespace, name: clusterAutoscaler } }, () =>
    startClusterAutoscaler(deps, { ...parts, path }),
  );
  return {
    impact: () => ({ nodesTurnedUnknown, machinesReplaced }),
    stop: () => {
      stopManager();
      stopMachines();
      stopAutoscaler();
    },
  };
};

/** Makes a shoot in the seed and sets its actors going. */
export const createShoot = (deps: ShootDeps, init: ShootInit): { readonly shoot: WorldShoot; stop(): void } => {
  const { api, store, random } = deps;
  const namespace = technicalName(init.name);
  const shoot = api.server.store;
  const cluster = (): SimObject | undefined => store.get(simKinds.Cluster, { name: namespace });
  const fleet = createFleet(
    { ...deps, store: shoot, random: random.fork('kubelets') },
    {
      namespace,
      path: () => api.reachability,
      isCutOff: () => annotationOf(store, namespace, kubeletsAnnotation) === 'cut',
    },
  );
  const { pods, stop: stopPods } = startShootPods({ ...deps, random: random.fork('pods') }, init);
  populate(deps, init);
  startMachines(deps, init, fleet);
  const stopCare = startShootCare({ ...deps, shoot, random: random.fork('care') }, init);
  const ref = { namespace, name: kubeApiserver };
  // With pods it is they who decide whether the API server answers.
  const stopStatus = init.controlPlanePods === true ? undefined : startApiServerStatus(deps, { ref, api });
  const controllers = startControllers(deps, { namespace, shoot, fleet, cluster });
  return {
    shoot: {
      ...pods,
      name: init.name,
      namespace,
      api,
      store: shoot,
      cutKubelets: (nodes) => {
        if (nodes === undefined) annotateCluster(store, namespace, { key: kubeletsAnnotation, value: 'cut' });
        else fleet.cut(nodes);
      },
      restoreKubelets: () => {
        fleet.restore();
        annotateCluster(store, namespace, { key: kubeletsAnnotation });
      },
      publishKubeconfig: (text = api.kubeconfig()) => {
        const { data, ...secret } = kubeconfigSecret(namespace, text);
        store.patch(simKinds.Secret, secret.metadata, (old) => ({
          ...old,
          data: { ...asMap(old.data), ...asMap(data) },
        }));
      },
      impact: () => controllers.impact(),
    },
    stop: () => {
      stopPods();
      stopCare();
      controllers.stop();
      stopStatus?.();
      fleet.stop();
    },
  };
};
