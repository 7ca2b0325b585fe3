export { bindAddressForms, parseBindAddress } from './bind-address.ts';
export type { Inquiry, NeededRight } from './check-rights.ts';
export { systemClock } from './clock.ts';
export { type Component, type ComponentOptions, type ComponentPorts, leaseNameOf, userAgentOf } from './component.ts';
export type { Check } from './endpoints.ts';
export { type Grant, eventGrant, leaseGrants, rightsOf, watched } from './grants.ts';
export { createElection } from './leadership.ts';
export { type Runnable, runLifecycle, whenAborted } from './lifecycle.ts';
export { type ProcessDeps, runComponent } from './process.ts';
export { WorkQueue } from './queue.ts';
export { systemRandom } from './random.ts';
export {
  type ComponentParts,
  type Generation,
  type RunningComponent,
  Reloadable,
  startParts,
} from './reloadable.ts';
export { type ProcessParts, type SeedPorts, connectSeed, runSeedProcess } from './seed-process.ts';
export type { BindAddress, LeaderElectionSettings, ProcessOptions } from './settings.ts';
