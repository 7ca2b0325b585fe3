export { careKinds, careSeedKinds, extensionKinds } from './care-kinds.ts';
export { createCertificates, type KeyPair, type SimCertificates } from './certificates.ts';
export { createVirtualClock, type VirtualClock } from './clock.ts';
export { type CountingKube, type RequestCounts, requestKind, withCounting } from './counting.ts';
export { type Fault, type FaultRule, withFaults } from './faults.ts';
export type { HttpsAuth } from './http-exchange.ts';
export {
  type HttpsFace,
  serveHttps,
} from './https.ts';
export { apiVersionOf, type SimKind } from './kind.ts';
export { customKind, simKinds } from './kinds.ts';
export { kubeconfigText, type KubeconfigInit } from './kubeconfig.ts';
export { mountKubes } from './mount.ts';
export type { JsonMap, SimObject } from './object.ts';
export { createSeededRandom, type SeededRandom } from './random.ts';
export { createSimApiServer, type SimApiServer } from './server.ts';
export type { SimDraft, SimStore } from './store.ts';
export type { Address, WorldServer } from './world/endpoint.ts';
export {
  clusterAutoscaler,
  crashingAnnotation,
  etcdAnnotation,
  kubeconfigSecretName,
  kubeControllerManager,
  kubeletsAnnotation,
  machineControllerManager,
  type PoolInit,
  type ShootInit,
} from './world/objects.ts';
export { type ServedWorld, serveWorld } from './world/serve.ts';
export type { PodRecovery } from './world/recoveries.ts';
export type { ShootToll, WorldShoot } from './world/shoot.ts';
export { startExtensionReports } from './world/shoot-care.ts';
export { defaultTiming, scaleTiming, type WorldTiming } from './world/timing.ts';
export { createWorld, type World, type WorldOptions } from './world/world.ts';
