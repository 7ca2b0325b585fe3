export { type Scenario, createScenario } from './harness.ts';
export type { TrafficListener } from './line.ts';
export { externalProbe, publishOutside } from './outside-support.ts';
export { type Replica, type ReplicaOptions, leaseNamespace, startReplica, startWeederReplica } from './replica.ts';
export { gardenSettings } from './settings.ts';
