import { type SimObject, simKinds } from '../apiserver/index.ts';
import type { SeededRandom } from '../time/index.ts';
import type { ActorDeps } from './actor.ts';
import {
  type ControlPlaneComponent,
  components,
  etcdMain,
  readyStatus,
  replicaSetObject,
  serviceObject,
  workloadObject,
} from './components.ts';
import { isServiceReady, startEndpointSlices } from './endpoint-slices.ts';
import type { WorldServer } from './endpoint.ts';
import { type ShootInit, crashingAnnotation, etcdAnnotation, kubeApiserver, technicalName } from './objects.ts';
import { type ContainerProgram, startPodKubelet } from './pod-kubelet.ts';
import { containerOf } from './pod-status.ts';
import { startPodSets } from './pod-sets.ts';
import { type ControlObject, annotationOf } from './steering.ts';
import { podFor } from './workloads.ts';

/** `store` is the seed's. */
export interface ControlPlaneDeps extends Omit<ActorDeps, 'random'> {
  readonly random: SeededRandom;
  /** The shoot's API server, which is reachable while one of its pods is ready. */
  readonly api: WorldServer;
  /** The object whose annotations break etcd and programs. */
  readonly steering: ControlObject;
}

const putPods = ({ store, clock }: ControlPlaneDeps, owner: SimObject, names: readonly string[]): void => {
  for (const name of names) {
    const pod = store.put(simKinds.Pod, podFor(owner, name));
    const ip = `10.1.0.${store.list(simKinds.Pod, owner.metadata.namespace).length}`;
    store.patch(simKinds.Pod, pod.metadata, (old) => ({ ...old, status: readyStatus(old, { ms: clock.now(), ip }) }));
  }
};

const populate = (deps: ControlPlaneDeps, init: ShootInit, component: ControlPlaneComponent): void => {
  const { store, random } = deps;
  const namespace = technicalName(init.name);
  const replicas = init.replicas?.[component.name] ?? 1;
  if (replicas === 0) return;
  const { service } = component;
  if (service !== undefined) store.put(simKinds.Service, serviceObject(namespace, service, component));
  const draft = workloadObject(namespace, component, replicas);
  if (component.kind === 'StatefulSet') {
    const names = Array.from({ length: replicas }, (_, index) => `${component.name}-${index}`);
    putPods(deps, store.put(simKinds.StatefulSet, draft), names);
    return;
  }
  const hash = random.fork(`hash/${component.name}`).integer(0x1_0000_0000).toString(16).padStart(8, '0');
  const replicaSet = store.put(simKinds.ReplicaSet, replicaSetObject(store.put(simKinds.Deployment, draft), hash));
  putPods(
    deps,
    replicaSet,
    Array.from({ length: replicas }, () => `${replicaSet.metadata.name}-`),
  );
};

/**
 * Creates the pods, workloads and Services of a control plane, if it has pods, all of them ready, and starts the kubelets and the
 * controllers of ReplicaSets, StatefulSets and EndpointSlices. Called before the Cluster is created, so that watchers of Clusters find the pods. Kube-apiserver depends on etcd, and the other components depend on
 * kube-apiserver: a program exits if the Service that it needs has no ready endpoint, and its container crash-loops. While no pod of
 * kube-apiserver is ready, the shoot's API server refuses connections. Templates never change: there are no rollouts.
 */
export const startControlPlane = (deps: ControlPlaneDeps, init: ShootInit): (() => void) => {
  if (init.controlPlanePods !== true) return () => undefined;
  const { store, api, steering } = deps;
  const namespace = technicalName(init.name);
  const isEtcdDown = (): boolean => annotationOf(store, steering, etcdAnnotation) === 'down';
  const isCrashing = (component: string): boolean =>
    annotationOf(store, steering, crashingAnnotation)?.split(',').includes(component) ?? false;
  for (const component of components) populate(deps, init, component);

  const programOf = (pod: SimObject): ContainerProgram => {
    const container = String(containerOf(pod).name);
    if (container === etcdMain) return { canRun: () => true, works: () => !isEtcdDown() };
    const needs = components.find(({ name }) => name === container)?.needs;
    const isFed = (): boolean => needs === undefined || isServiceReady(store, { namespace, name: needs });
    const canRun = (): boolean => !isCrashing(container) && isFed();
    return { canRun, works: canRun };
  };

  const stopSlices = startEndpointSlices(store, namespace);
  const kubelet = startPodKubelet({ ...deps, random: deps.random.fork('kubelet') }, { namespace, programOf });
  const stopSets = startPodSets(deps, namespace);

  const served = { namespace, name: kubeApiserver };
  let wasServed = isServiceReady(store, served);
  const followApiServer = (): void => {
    const isServed = isServiceReady(store, served);
    if (isServed === wasServed) return;
    wasServed = isServed;
    if (!isServed) api.setReachability('refused');
    // A path that was silenced meanwhile stays silent.
    else if (api.reachability === 'refused') api.setReachability('open');
  };
  const stopListening = store.subscribe(
    simKinds.EndpointSlice,
    () => {
      followApiServer();
      kubelet.reconcile();
    },
    namespace,
  );

  const stopSteering = store.subscribe(steering.kind, ({ object }) => {
    if (object.metadata.name === namespace) kubelet.reconcile();
  });
  return () => {
    for (const stop of [stopSlices, stopSets, stopListening, stopSteering]) stop();
    kubelet.stop();
  };
};
