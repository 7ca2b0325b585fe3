import { simKinds } from '../apiserver/index.ts';
import { annotateCluster, annotationOf } from './clusters.ts';
import { type ControlPlaneDeps, startControlPlane } from './control-plane.ts';
import { type ShootInit, crashingAnnotation, etcdAnnotation, technicalName } from './objects.ts';
import type { PodRecovery } from './recoveries.ts';

/** What can be done to the pods of a shoot's control plane; each throws for a shoot without `controlPlanePods`. */
export interface ShootPods {
  /** Keeps etcd from being ready, as an annotation on the Cluster does. */
  breakEtcd(): void;
  mendEtcd(): void;
  /** Makes the programs of these Deployments, and of no others, exit whatever is there, as an annotation on the Cluster does. */
  crash(names: readonly string[]): void;
  /** How its Deployments came back after etcd did, oldest first. */
  recoveries(): readonly PodRecovery[];
}

const noPods = (shoot: string): ShootPods => {
  const refuse = (): never => {
    throw new Error(`the control plane of the shoot ${shoot} has no pods: make it with controlPlanePods`);
  };
  return { breakEtcd: refuse, mendEtcd: refuse, crash: refuse, recoveries: () => [] };
};

/** Before its Cluster is there, so that whoever hears of that finds the pods. */
export const startShootPods = (
  deps: ControlPlaneDeps,
  init: ShootInit,
): { readonly pods: ShootPods; readonly stop: () => void } => {
  const { store } = deps;
  const { controlPlanePods = false, replicas = {} } = init;
  if (!controlPlanePods) return { pods: noPods(init.name), stop: () => undefined };
  const name = technicalName(init.name);
  const isEtcdDown = (): boolean => annotationOf(store, name, etcdAnnotation) === 'down';
  const isCrashing = (component: string): boolean =>
    annotationOf(store, name, crashingAnnotation)?.split(',').includes(component) ?? false;
  const controlPlane = startControlPlane(deps, { namespace: name, replicas, isEtcdDown, isCrashing });
  const unsubscribe = store.subscribe(simKinds.Cluster, ({ object }) => {
    if (object.metadata.name === name) controlPlane.look();
  });
  return {
    pods: {
      breakEtcd: () => annotateCluster(store, name, { key: etcdAnnotation, value: 'down' }),
      mendEtcd: () => annotateCluster(store, name, { key: etcdAnnotation }),
      crash: (names) =>
        annotateCluster(store, name, {
          key: crashingAnnotation,
          ...(names.length === 0 ? {} : { value: names.join(',') }),
        }),
      recoveries: () => controlPlane.recoveries(),
    },
    stop: () => {
      unsubscribe();
      controlPlane.stop();
    },
  };
};
