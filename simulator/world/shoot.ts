import { parseGoDuration } from '../../src/kubernetes/api/duration.ts';
import { type SimStore, asMap, capiKinds, getPath, simKinds } from '../apiserver/index.ts';
import type { SeededRandom } from '../time/index.ts';
import type { ActorDeps } from './actor.ts';
import { startApiServerStatus } from './api-server-status.ts';
import { startClusterAutoscaler } from './cluster-autoscaler.ts';
import { deploymentObject } from './components.ts';
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
  kubeApiserver,
  kubeControllerManager,
  isCutOff,
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
import { capiClusterObject, startCapiMachines } from './capi-objects.ts';
import { type ControlPlaneNames, controlPlaneNamesOf } from './control-plane-names.ts';
import { type ControlObject, type WorldSource, controlObjectOf } from './source.ts';
import { annotate, annotationOf } from './steering.ts';

/** Damage to a shoot, counted by the actors themselves. */
export interface ShootImpact {
  /** How often KCM marked a node Unknown. */
  readonly nodesTurnedUnknown: number;
  readonly machinesReplaced: number;
}

export interface WorldShoot extends ShootPods, ControlPlaneNames {
  readonly name: string;
  readonly api: WorldServer;
  readonly store: SimStore;
  /** Cuts kubelets off from the API server: those of the named nodes, or all, by the annotation on the Cluster or the Namespace. */
  cutKubelets(nodes?: readonly string[]): void;
  restoreKubelets(): void;
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

/** Deployments of a control plane without pods. */
const controlPlane = [kubeApiserver, kubeControllerManager, machineControllerManager, clusterAutoscaler];

const populate = ({ store, clock, api, source }: ShootDeps, init: ShootInit, plane: ControlPlaneNames): void => {
  const { namespace, nameOf } = plane;
  if (store.get(simKinds.Namespace, { name: namespace }) === undefined) {
    store.put(simKinds.Namespace, namespaceObject(namespace));
  }
  store.put(simKinds.Secret, plane.secretObject(plane.secretName, api.kubeconfig()));
  // Deployments with pods exist already.
  const deployments = init.controlPlanePods === true ? [] : controlPlane;
  for (const name of deployments) {
    const replicas = init.replicas?.[name] ?? 1;
    if (replicas > 0) store.put(simKinds.Deployment, deploymentObject(namespace, nameOf(name), replicas));
  }
  // The Cluster comes last, so that watchers of Clusters find the other objects.
  if (source !== 'secret') store.put(simKinds.Cluster, clusterObject(init, clock.now()));
  if (plane.place !== undefined) store.put(capiKinds.Cluster, capiClusterObject(plane.place, clock.now()));
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

const graceIn = (cluster: unknown, fallbackMs: number): number => {
  const path = ['spec', 'shoot', 'spec', 'kubernetes', 'kubeControllerManager', 'nodeMonitorGracePeriod'];
  const text = getPath(cluster, path);
  const duration = typeof text === 'string' ? parseGoDuration(text) : undefined;
  return duration?.ok === true ? duration.value : fallbackMs;
};

/** Runs KCM, MCM and the cluster-autoscaler while their Deployments in the seed have a ready replica. */
const startControllers = (
  deps: ShootDeps,
  parts: { plane: ControlPlaneNames; namespace: string; shoot: SimStore; fleet: Fleet; cluster: () => unknown },
): { impact(): ShootImpact; stop(): void } => {
  const { store, timing, api } = deps;
  const { namespace, plane, shoot, fleet, cluster } = parts;
  const refOf = (component: string) => ({ namespace: plane.namespace, name: plane.nameOf(component) });
  const path = (): WorldServer['reachability'] => api.reachability;
  let nodesTurnedUnknown = 0;
  let machinesReplaced = 0;
  const stopManager = whileReady({ store, ref: refOf(kubeControllerManager) }, () => {
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
  const stopMachines = whileReady({ store, ref: refOf(machineControllerManager) }, () =>
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
  const stopAutoscaler = whileReady({ store, ref: refOf(clusterAutoscaler) }, () =>
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

/** Cuts the kubelets off and restores them: all by the annotation of the shoot's control object, single ones by the fleet. */
const kubeletSwitch = (
  store: SimStore,
  control: ControlObject,
  fleet: Fleet,
): Pick<WorldShoot, 'cutKubelets' | 'restoreKubelets'> => ({
  cutKubelets: (nodes) => {
    if (nodes === undefined) annotate(store, control, { key: kubeletsAnnotation, value: 'cut' });
    else fleet.cut(nodes);
  },
  restoreKubelets: () => {
    fleet.restore();
    annotate(store, control, { key: kubeletsAnnotation });
  },
});

/** Creates a shoot in the seed and starts its actors. */
export const createShoot = (deps: ShootDeps, init: ShootInit): { readonly shoot: WorldShoot; stop(): void } => {
  const { api, store, random, source } = deps;
  // With Cluster API this is a hidden namespace, which holds the actors' own objects of the cluster.
  const namespace = technicalName(init.name);
  const names = controlPlaneNamesOf(source, init);
  const shoot = api.server.store;
  const controlObject = controlObjectOf(source, namespace);
  const initialCluster = clusterObject(init, deps.clock.now());
  const cluster = (): unknown =>
    source === 'secret' ? initialCluster : store.get(simKinds.Cluster, { name: namespace });
  const fleet = createFleet(
    { ...deps, store: shoot, random: random.fork('kubelets') },
    {
      // Different clusters of Cluster API may have nodes of the same names.
      namespace: source === 'cluster-api' ? 'sim' : namespace,
      path: () => api.reachability,
      isCutOff: (node) => isCutOff(annotationOf(store, controlObject, kubeletsAnnotation), node),
    },
  );
  const { pods, stop: stopPods } = startShootPods(
    { ...deps, steering: controlObject, random: random.fork('pods') },
    init,
  );
  populate(deps, init, names);
  const stopCapi = names.place && startCapiMachines(store, names.place, namespace);
  startMachines(deps, init, fleet);
  const stopCare = startShootCare({ ...deps, shoot, random: random.fork('care') }, init);
  const ref = { namespace: names.namespace, name: names.nameOf(kubeApiserver) };
  // If there are pods, they decide whether the API server is reachable.
  const stopStatus = init.controlPlanePods === true ? undefined : startApiServerStatus(deps, { ref, api });
  const controllers = startControllers(deps, { namespace, plane: names, shoot, fleet, cluster });
  return {
    shoot: {
      ...pods,
      ...names,
      name: init.name,
      api,
      store: shoot,
      ...kubeletSwitch(store, controlObject, fleet),
      publishKubeconfig: (text = api.kubeconfig()) => {
        const { data, ...secret } = names.secretObject(names.secretName, text);
        store.patch(simKinds.Secret, secret.metadata, (old) => ({
          ...old,
          data: { ...asMap(old.data), ...asMap(data) },
        }));
      },
      impact: () => controllers.impact(),
    },
    stop: () => {
      stopCapi?.();
      stopPods();
      stopCare();
      controllers.stop();
      stopStatus?.();
      fleet.stop();
    },
  };
};
