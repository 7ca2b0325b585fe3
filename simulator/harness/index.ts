export { type Scenario, createScenario } from './harness.ts';
export type { TrafficListener } from './line.ts';
export { externalProbe, publishOutside } from './outside-support.ts';
export {
  type SimulatedReplica,
  type SimulatedReplicaOptions,
  electionSettings,
  leaseNamespace,
  startReplica,
  startWeederReplica,
} from './replica.ts';
export { capiSettings, gardenSettings, worldSourceOf } from './settings.ts';
