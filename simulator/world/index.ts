export { deploymentObject } from './components.ts';
export type { WorldServer } from './endpoint.ts';
export {
  type ShootInit,
  type Workload,
  clusterAutoscaler,
  etcdAnnotation,
  kubeApiserver,
  kubeControllerManager,
  kubeconfigSecretName,
  kubeletsAnnotation,
  machineControllerManager,
  secretObject,
  technicalName,
} from './objects.ts';
export { isServiceReady } from './endpoint-slices.ts';
export { readyOf } from './nodes.ts';
export { serveWorld } from './serve.ts';
export type { WorldSource } from './steering.ts';
export type { ShootImpact, WorldShoot } from './shoot.ts';
export { annotated, controlObjectOf, editEmbedded } from './steering.ts';
export { type WorldTiming, defaultTiming, scaleTiming } from './timing.ts';
export { wantedOf } from './workloads.ts';
export { type World, createWorld } from './world.ts';
