export { InstallError, type InstallContext } from './context.ts';
export type { Difference } from './diff.ts';
export { type ChangedObject, install, type Installed, type InstallOptions } from './install.ts';
export { listInstalled } from './inventory.ts';
export { configTexts, installationLabels, type InstalledComponent, type KubeObject, nameOf } from './object.ts';
export { refuseSecondProber } from './other-prober.ts';
export { type Released, uninstall, type Uninstalled, type UninstallOptions } from './uninstall.ts';
