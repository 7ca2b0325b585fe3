export type { WorldServer } from './endpoint.ts';
export {
  type ShootInit,
  clusterAutoscaler,
  etcdAnnotation,
  kubeControllerManager,
  kubeconfigSecretName,
  kubeletsAnnotation,
  machineControllerManager,
} from './objects.ts';
export { serveWorld } from './serve.ts';
export type { ShootImpact, WorldShoot } from './shoot.ts';
export { type WorldTiming, defaultTiming, scaleTiming } from './timing.ts';
export { type World, createWorld } from './world.ts';
