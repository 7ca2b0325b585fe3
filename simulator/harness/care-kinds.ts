import { type SimKind, customKind, careKinds as ofSeed, simKinds } from '../apiserver/index.ts';

const status = { status: true } as const;
const clusterScoped = { namespaced: false } as const;

const gardenKind = (kind: string, resource: string, extra: Partial<SimKind>): SimKind =>
  customKind({ group: 'core.gardener.cloud', version: 'v1beta1', kind, resource }, extra);

/** Kinds that care reads or writes, in addition to `simKinds`. */
export const careKinds = {
  ...ofSeed,
  Shoot: gardenKind('Shoot', 'shoots', status),
  ControllerRegistration: gardenKind('ControllerRegistration', 'controllerregistrations', clusterScoped),
  ControllerInstallation: gardenKind('ControllerInstallation', 'controllerinstallations', clusterScoped),
} as const satisfies Record<string, SimKind>;

export const gardenKinds: readonly SimKind[] = [
  simKinds.Namespace,
  careKinds.Shoot,
  careKinds.ControllerRegistration,
  careKinds.ControllerInstallation,
];
