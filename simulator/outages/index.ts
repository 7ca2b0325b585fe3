export { type End, nothing, turnsOf } from './faults.ts';
export { NetworkFaults } from './network-faults.ts';
export type { Fault, PlannedFault } from './plan.ts';
export { Processes } from './processes.ts';
export { shootFaults } from './shoot-faults.ts';
