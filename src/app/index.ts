export { careGardenGrants, careGrants, careShootGrants } from './care-rights.ts';
export { type CareOptions, type CarePorts, startCare } from './care.ts';
export {
  type CareProcessDeps,
  type CareRound,
  type CareRoundDeps,
  runCareProcess,
  runCareRound,
} from './care-process.ts';
export { leaseNameOf } from './component.ts';
export { type Grant, leaseGrants, rightsOf } from './grants.ts';
export {
  type CommandFailure,
  type InstallReport,
  type InstallRun,
  runInstall,
  runUninstall,
  type UninstallReport,
  type UninstallRun,
} from './installation.ts';
export { installationLabels } from '../install/index.ts';
export { operatorGrants, operatorHomeGrants } from './operator-rights.ts';
export { createElection } from '../process/index.ts';
export { type ProcessDeps, runComponent } from './process.ts';
export { createProber, proberComponent, type ProberOptions, type ProberPorts, startProber } from './prober.ts';
export { proberGrants, proberShootGrants } from './prober-rights.ts';
export type { RunningComponent } from './reloadable.ts';
export { startWeeder, weederComponent, type WeederOptions } from './weeder.ts';
export { weederGrants } from './weeder-rights.ts';
