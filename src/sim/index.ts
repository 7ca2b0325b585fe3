export { type CertificateOptions, createCertificates, type KeyPair, type SimCertificates } from './certificates.ts';
export { createVirtualClock, type VirtualClock, type VirtualClockOptions } from './clock.ts';
export { type CountingKube, type RequestCounts, type RequestKind, requestKind, withCounting } from './counting.ts';
export { type Fault, type FaultRule, withFaults } from './faults.ts';
export type { HttpsAuth } from './http-exchange.ts';
export {
  type HttpsFace,
  type HttpsFaceOptions,
  type HttpsStats,
  type Reachability,
  serveHttps,
} from './https.ts';
export { apiVersionOf, type ScalePaths, type SimKind } from './kind.ts';
export { customKind, simKinds } from './kinds.ts';
export { kubeconfigText, type KubeconfigInit } from './kubeconfig.ts';
export type { JsonMap, SimMeta, SimObject } from './object.ts';
export { createSeededRandom, type SeededRandom } from './random.ts';
export { createSimApiServer, type SimApiServer, type SimApiServerOptions } from './server.ts';
export type { SimChange, SimDraft, SimRef, SimStore } from './store.ts';
export { formatHttpDate, formatMicroTime, formatTime } from './time.ts';
export type { DeleteOptions } from './write-delete.ts';
export type { Address, WorldServer } from './world/endpoint.ts';
export {
  clusterAutoscaler,
  kubeconfigSecretName,
  kubeControllerManager,
  kubeletsAnnotation,
  machineControllerManager,
  type PoolInit,
  type ShootInit,
} from './world/objects.ts';
export { type ServedWorld, serveWorld } from './world/serve.ts';
export type { ShootToll, WorldShoot } from './world/shoot.ts';
export { defaultTiming, scaleTiming, type WorldTiming } from './world/timing.ts';
export { createWorld, type World, type WorldOptions } from './world/world.ts';
export { mountKubes } from './mount.ts';
