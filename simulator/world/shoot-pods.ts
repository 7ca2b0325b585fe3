import { type ControlPlaneDeps, startControlPlane } from './control-plane.ts';
import { type ShootInit, crashingAnnotation, etcdAnnotation, technicalName } from './objects.ts';
import type { ControlObject } from './source.ts';
import { annotate, annotationOf } from './steering.ts';

/** Faults of the pods of a shoot's control plane. For a shoot without `controlPlanePods` all throw. */
export interface ShootPods {
  /** Makes etcd not ready, by an annotation on the Cluster or on the Namespace. */
  breakEtcd(): void;
  mendEtcd(): void;
  /** Makes the programs of exactly these Deployments exit even if their dependencies are ready, by an annotation on the same object. */
  crash(names: readonly string[]): void;
}

const noPods = (shoot: string): ShootPods => {
  const refuse = (): never => {
    throw new Error(`the control plane of the shoot ${shoot} has no pods: make it with controlPlanePods`);
  };
  return { breakEtcd: refuse, mendEtcd: refuse, crash: refuse };
};

/** Starts the control plane's pods if the shoot has any. Call it before the Cluster is created, so that watchers of Clusters find the pods. */
export const startShootPods = (
  deps: ControlPlaneDeps & { readonly steering: ControlObject },
  init: ShootInit,
): { readonly pods: ShootPods; readonly stop: () => void } => {
  const { store, steering } = deps;
  const { controlPlanePods = false, replicas = {} } = init;
  if (!controlPlanePods) return { pods: noPods(init.name), stop: () => undefined };
  const name = technicalName(init.name);
  const isEtcdDown = (): boolean => annotationOf(store, steering, etcdAnnotation) === 'down';
  const isCrashing = (component: string): boolean =>
    annotationOf(store, steering, crashingAnnotation)?.split(',').includes(component) ?? false;
  const controlPlane = startControlPlane(deps, { namespace: name, replicas, isEtcdDown, isCrashing });
  const unsubscribe = store.subscribe(steering.kind, ({ object }) => {
    if (object.metadata.name === name) controlPlane.reconcile();
  });
  return {
    pods: {
      breakEtcd: () => annotate(store, steering, { key: etcdAnnotation, value: 'down' }),
      mendEtcd: () => annotate(store, steering, { key: etcdAnnotation }),
      crash: (names) =>
        annotate(store, steering, {
          key: crashingAnnotation,
          ...(names.length === 0 ? {} : { value: names.join(',') }),
        }),
    },
    stop: () => {
      unsubscribe();
      controlPlane.stop();
    },
  };
};
