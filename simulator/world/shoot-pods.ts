import { type ControlPlaneDeps, startControlPlane } from './control-plane.ts';
import { type ShootInit, crashingAnnotation, etcdAnnotation, technicalName } from './objects.ts';
import type { ControlObject } from './source.ts';
import { annotationOf } from './steering.ts';

/** Starts the control plane's pods if the shoot has any. Call it before the Cluster is created, so that watchers of Clusters find the pods. */
export const startShootPods = (
  deps: ControlPlaneDeps & { readonly steering: ControlObject },
  { name, controlPlanePods = false, replicas }: ShootInit,
): (() => void) => {
  if (!controlPlanePods) return () => undefined;
  const { store, steering } = deps;
  const namespace = technicalName(name);
  const controlPlane = startControlPlane(deps, {
    namespace,
    replicas,
    isEtcdDown: () => annotationOf(store, steering, etcdAnnotation) === 'down',
    isCrashing: (component) =>
      annotationOf(store, steering, crashingAnnotation)?.split(',').includes(component) ?? false,
  });
  const unsubscribe = store.subscribe(steering.kind, ({ object }) => {
    if (object.metadata.name === namespace) controlPlane.reconcile();
  });
  return () => {
    unsubscribe();
    controlPlane.stop();
  };
};
