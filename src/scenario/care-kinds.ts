import { careExtensionKinds } from '../domain/index.ts';
import { customKind, type SimKind, simKinds } from '../sim/index.ts';

const status = { status: true } as const;
const clusterScoped = { namespaced: false } as const;

const gardenKind = (kind: string, resource: string, extra: Partial<SimKind>): SimKind =>
  customKind({ group: 'core.gardener.cloud', version: 'v1beta1', kind, resource }, extra);

/** What the health of shoots is read from and written to, besides `simKinds`. */
export const careKinds = {
  Shoot: gardenKind('Shoot', 'shoots', status),
  ControllerRegistration: gardenKind('ControllerRegistration', 'controllerregistrations', clusterScoped),
  ControllerInstallation: gardenKind('ControllerInstallation', 'controllerinstallations', clusterScoped),
  ManagedResource: customKind(
    { group: 'resources.gardener.cloud', version: 'v1alpha1', kind: 'ManagedResource', resource: 'managedresources' },
    status,
  ),
  MachineDeployment: customKind(
    { group: 'machine.sapcloud.io', version: 'v1alpha1', kind: 'MachineDeployment', resource: 'machinedeployments' },
    status,
  ),
} as const satisfies Record<string, SimKind>;

export const extensionKinds: ReadonlyMap<string, SimKind> = new Map(
  careExtensionKinds.map(({ kind, resource, scope }) => [
    kind,
    customKind(
      { group: 'extensions.gardener.cloud', version: 'v1alpha1', kind, resource },
      { ...status, namespaced: scope !== 'cluster' },
    ),
  ]),
);

export const seedKinds: readonly SimKind[] = [
  ...Object.values(simKinds),
  careKinds.ManagedResource,
  careKinds.MachineDeployment,
  ...extensionKinds.values(),
];

export const gardenKinds: readonly SimKind[] = [
  simKinds.Namespace,
  careKinds.Shoot,
  careKinds.ControllerRegistration,
  careKinds.ControllerInstallation,
];
