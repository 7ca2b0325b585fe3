export { type Scenario, createScenario } from './scenario.ts';
export type { TrafficListener } from './server-connections.ts';
export { externalProbe, publishExternalKubeconfig } from './external-probe-support.ts';
export {
  type ReplicaWorld,
  type SimulatedReplica,
  type SimulatedReplicaOptions,
  electionSettings,
  leaseNamespace,
  prober,
  startReplica,
  weeder,
} from './replica.ts';
export { gardenSettings, worldSourceOf } from './settings.ts';
