export { type InstallContext as CommandContext, InstallError as CommandProblem, callOptions } from './context.ts';
export { installedConfiguration, installedSettings } from './installed-settings.ts';
export { type ClusterCommand, type CommandFailure, onCluster } from './on-cluster.ts';
export {
  type InstallReport,
  type InstallRun,
  type UninstallRun,
  runInstall,
  runUninstall,
} from './installation.ts';
export { type KubeObject, installationLabels } from './object.ts';
export { operatorGrants, operatorHomeGrants } from './operator-rights.ts';
export type { Uninstalled } from './uninstall.ts';
