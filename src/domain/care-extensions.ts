import { type Condition, decodeConditions } from './conditions.ts';
import {
  type ObjectMeta,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalList,
  optionalObject,
  optionalString,
} from './decode.ts';

/**
 * Kinds of `extensions.gardener.cloud/v1alpha1` that report on their shoot, in the order in which they are heard. All are objects of the
 * control-plane namespace but the last, of which one belongs to the shoot by its name.
 */
export const careExtensionKinds = [
  { kind: 'Extension', resource: 'extensions', scope: 'shoot' },
  { kind: 'ContainerRuntime', resource: 'containerruntimes', scope: 'workers' },
  { kind: 'ControlPlane', resource: 'controlplanes', scope: 'workers' },
  { kind: 'Infrastructure', resource: 'infrastructures', scope: 'workers' },
  { kind: 'Network', resource: 'networks', scope: 'workers' },
  { kind: 'OperatingSystemConfig', resource: 'operatingsystemconfigs', scope: 'workers' },
  { kind: 'Worker', resource: 'workers', scope: 'workers' },
  { kind: 'BackupEntry', resource: 'backupentries', scope: 'cluster' },
] as const;

export type CareExtensionKind = (typeof careExtensionKinds)[number]['kind'];

/** What an extension says of its components. */
export interface ExtensionReport {
  readonly meta: ObjectMeta;
  /** `spec.type`: with the kind it tells which extension is in charge. */
  readonly type: string;
  readonly conditions: readonly Condition[];
}

export const decodeExtensionReport = (json: unknown, path: string): ExtensionReport => {
  const object = decodeObject(json, path);
  const spec = optionalObject(object.spec, `${path}.spec`) ?? {};
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  return {
    meta: decodeMeta(object, path),
    type: optionalString(spec.type, `${path}.spec.type`) ?? '',
    conditions: decodeConditions(status, `${path}.status`),
  };
};

/** A ControllerRegistration (`core.gardener.cloud/v1beta1`): which kinds and types an extension is in charge of. */
export interface ControllerRegistration {
  readonly name: string;
  readonly resources: readonly { readonly kind: string; readonly type: string }[];
}

export const decodeControllerRegistration = (json: unknown, path: string): ControllerRegistration => {
  const object = decodeObject(json, path);
  const spec = optionalObject(object.spec, `${path}.spec`) ?? {};
  const resources = (optionalList(spec.resources, `${path}.spec.resources`) ?? []).map((item, index) => {
    const at = `${path}.spec.resources[${String(index)}]`;
    const resource = decodeObject(item, at);
    return { kind: decodeString(resource.kind, `${at}.kind`), type: decodeString(resource.type, `${at}.type`) };
  });
  return { name: decodeMeta(object, path).name, resources };
};

/** A ControllerInstallation (`core.gardener.cloud/v1beta1`): an extension in a seed, where it lives in the namespace `extension-<name>`. */
export interface ControllerInstallation {
  readonly name: string;
  readonly registration: string;
  readonly seed: string;
}

export const decodeControllerInstallation = (json: unknown, path: string): ControllerInstallation => {
  const object = decodeObject(json, path);
  const spec = optionalObject(object.spec, `${path}.spec`) ?? {};
  const nameIn = (field: string): string => {
    const at = `${path}.spec.${field}`;
    return optionalString(optionalObject(spec[field], at)?.name, `${at}.name`) ?? '';
  };
  return { name: decodeMeta(object, path).name, registration: nameIn('registrationRef'), seed: nameIn('seedRef') };
};
