import {
  type ObjectMeta,
  childObject,
  childObjects,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalString,
} from '../kubernetes/api/decode.ts';
import { type Condition, decodeConditions } from './condition.ts';

/** Plural of every kind of `extensions.gardener.cloud/v1alpha1` whose objects have a type. All except BackupBucket and BackupEntry are namespaced. */
export const extensionResources = {
  BackupBucket: 'backupbuckets',
  BackupEntry: 'backupentries',
  Bastion: 'bastions',
  ContainerRuntime: 'containerruntimes',
  ControlPlane: 'controlplanes',
  DNSRecord: 'dnsrecords',
  Extension: 'extensions',
  Infrastructure: 'infrastructures',
  Network: 'networks',
  OperatingSystemConfig: 'operatingsystemconfigs',
  Worker: 'workers',
} as const;

export type ExtensionKind = keyof typeof extensionResources;

/**
 * Kinds whose conditions count for a Shoot, in the order of the checks. `scope`: `shoot` for objects in the control-plane namespace; `workers` for the same,
 * but only of shoots with workers; `cluster` for the one cluster-scoped object of the seed that belongs to the shoot by its name.
 */
export const careExtensionKinds = [
  { kind: 'Extension', resource: extensionResources.Extension, scope: 'shoot' },
  { kind: 'ContainerRuntime', resource: extensionResources.ContainerRuntime, scope: 'workers' },
  { kind: 'ControlPlane', resource: extensionResources.ControlPlane, scope: 'workers' },
  { kind: 'Infrastructure', resource: extensionResources.Infrastructure, scope: 'workers' },
  { kind: 'Network', resource: extensionResources.Network, scope: 'workers' },
  { kind: 'OperatingSystemConfig', resource: extensionResources.OperatingSystemConfig, scope: 'workers' },
  { kind: 'Worker', resource: extensionResources.Worker, scope: 'workers' },
  { kind: 'BackupEntry', resource: extensionResources.BackupEntry, scope: 'cluster' },
] as const;

export type CareExtensionKind = (typeof careExtensionKinds)[number]['kind'];

/** Conditions that an extension reports about its components. */
export interface ExtensionReport {
  readonly meta: ObjectMeta;
  /** `spec.type`: kind and type determine the responsible extension. */
  readonly type: string;
  readonly conditions: readonly Condition[];
}

export const decodeExtensionReport = (json: unknown, path: string): ExtensionReport => {
  const object = decodeObject(json, path);
  const spec = childObject(object, path, 'spec');
  const status = childObject(object, path, 'status');
  return {
    meta: decodeMeta(object, path),
    type: optionalString(spec.type, `${path}.spec.type`) ?? '',
    conditions: decodeConditions(status, `${path}.status`),
  };
};

/** A ControllerRegistration (`core.gardener.cloud/v1beta1`): the kinds and types for which an extension is responsible. */
export interface ControllerRegistration {
  readonly name: string;
  readonly resources: readonly { readonly kind: string; readonly type: string }[];
}

export const decodeControllerRegistration = (json: unknown, path: string): ControllerRegistration => {
  const object = decodeObject(json, path);
  const items = childObjects(childObject(object, path, 'spec'), `${path}.spec`, 'resources');
  const resources = items.map(({ object: { kind, type }, path: at }) => ({
    kind: decodeString(kind, `${at}.kind`),
    type: decodeString(type, `${at}.type`),
  }));
  return { name: decodeMeta(object, path).name, resources };
};

/** A ControllerInstallation (`core.gardener.cloud/v1beta1`): an extension in a seed; its namespace is `extension-<name>`. */
export interface ControllerInstallation {
  readonly name: string;
  readonly registration: string;
  readonly seed: string;
}

export const decodeControllerInstallation = (json: unknown, path: string): ControllerInstallation => {
  const object = decodeObject(json, path);
  const spec = childObject(object, path, 'spec');
  const nameIn = (field: string): string =>
    optionalString(childObject(spec, `${path}.spec`, field).name, `${path}.spec.${field}.name`) ?? '';
  return { name: decodeMeta(object, path).name, registration: nameIn('registrationRef'), seed: nameIn('seedRef') };
};

/** Name of the Lease in an extension's namespace that the extension renews while it is alive. */
export const heartbeatLeaseName = 'gardener-extension-heartbeat';
