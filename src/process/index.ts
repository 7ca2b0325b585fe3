export { bindAddressForms, parseBindAddress } from './bind-address.ts';
export { systemClock } from './clock.ts';
export {
  type ClusterCommand,
  type CommandContext,
  CommandError,
  type ForwardToPod,
  onCluster,
  withCluster,
} from './cluster-command.ts';
export { type Component, type ComponentOptions, type ComponentPorts, leaseNameOf, userAgentOf } from './component.ts';
export type { ReadStatus, ReadyCheck } from './endpoints.ts';
export { type HttpHandler, type HttpResponse, serveHttp, textResponse } from './http-server.ts';
export { type Connecting, findSeed } from './connections.ts';
export { createElection } from './leadership.ts';
export { type Runnable, runLifecycle, whenAborted } from './lifecycle.ts';
export { type ProcessDeps, type ServerDeps, runComponent } from './run-component.ts';
export { isLed } from './other-installations.ts';
export { WorkQueue } from './queue.ts';
export { systemRandom } from './random.ts';
export {
  type ComponentParts,
  type ConfiguredComponent,
  type ProcessView,
  Reloadable,
} from './reloadable.ts';
export { type ProcessParts, type SeedPorts, runSeedProcess } from './seed-process.ts';
export { shareResponses } from './shared-responses.ts';
export type { BindAddress, LeaderElectionSettings, ProcessOptions } from './settings.ts';
