import { careExtensionKinds } from '../../src/gardener/extensions.ts';
import type { SimKind } from './kind.ts';
import { customKind, simKinds } from './kinds.ts';

const status = { status: true } as const;

/** Kinds of a seed that report the health of control planes, in addition to `simKinds`. */
export const careKinds = {
  ManagedResource: customKind(
    { group: 'resources.gardener.cloud', version: 'v1alpha1', kind: 'ManagedResource', resource: 'managedresources' },
    status,
  ),
  MachineDeployment: customKind(
    { group: 'machine.sapcloud.io', version: 'v1alpha1', kind: 'MachineDeployment', resource: 'machinedeployments' },
    status,
  ),
} as const satisfies Record<string, SimKind>;

/** Kinds of the extensions that report the health of their shoot, by kind name. */
export const extensionKinds: ReadonlyMap<string, SimKind> = new Map(
  careExtensionKinds.map(({ kind, resource, scope }) => [
    kind,
    customKind(
      { group: 'extensions.gardener.cloud', version: 'v1alpha1', kind, resource },
      { ...status, namespaced: scope !== 'cluster' },
    ),
  ]),
);

/** All kinds of a seed whose shoots are created with `careObjects`. */
export const careSeedKinds: readonly SimKind[] = [
  ...Object.values(simKinds),
  ...Object.values(careKinds),
  ...extensionKinds.values(),
];
