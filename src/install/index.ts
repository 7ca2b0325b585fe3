export {
  type CommandFailure,
  type InstallReport,
  type InstallRun,
  type UninstallRun,
  runInstall,
  runUninstall,
} from './installation.ts';
export { installationLabels } from './object.ts';
export { operatorGrants, operatorHomeGrants } from './operator-rights.ts';
export type { Uninstalled } from './uninstall.ts';
