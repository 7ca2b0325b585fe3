import { decodeShootState } from '../gardener/cluster.ts';
import type { Condition } from '../gardener/condition.ts';
import { type ExtensionKind, decodeExtensionReport, extensionResources } from '../gardener/extensions.ts';
import { decodeLastOperation } from '../gardener/shoot-status.ts';
import type { Call } from '../kubernetes/api/call.ts';
import {
  type JsonObject,
  type ObjectMeta,
  childObject,
  decodeObject,
  optionalString,
} from '../kubernetes/api/decode.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import type { ExtensionObject } from './check.ts';

const apiVersion = 'extensions.gardener.cloud/v1alpha1';

/**
 * Finds the control-plane namespace, for a BackupEntry in its name (gardener's `pkg/utils/gardener/backupentry.go`, ExtractShootDetailsFromBackupEntryName).
 */
const controlPlaneOf = ({ namespace, name }: ObjectMeta): string => {
  if (namespace !== '') return namespace;
  const full = name.startsWith('source-') ? name.slice('source-'.length) : name;
  // The text before and after the dashes must not be empty.
  const end = full.lastIndexOf('--', full.length - 3);
  return end > 0 ? full.slice(0, end) : name;
};

export const decodeExtension = (json: unknown, path: string): ExtensionObject => {
  const object = decodeObject(json, path);
  const report = decodeExtensionReport(object, path);
  const spec = childObject(object, path, 'spec');
  return {
    ...report,
    controlPlane: controlPlaneOf(report.meta),
    class: optionalString(spec.class, `${path}.spec.class`) ?? 'shoot',
    lastOperation: decodeLastOperation(childObject(object, path, 'status'), `${path}.status`),
    object,
  };
};

/** True if the object must not be checked, because it is being deleted or moved to another seed. */
export const isLeaving = ({ meta, lastOperation }: ExtensionObject): boolean =>
  meta.deleting || meta.annotations['gardener.cloud/operation'] === 'migrate' || lastOperation?.type === 'Migrate';

const objectPath = (kind: ExtensionKind, { meta: { namespace, name } }: ExtensionObject): string =>
  resourcePath({ apiVersion, resource: extensionResources[kind], namespace: namespace || undefined, name });

/** Path of the extension objects of all namespaces. */
export const extensionsPath = (kind: ExtensionKind): string =>
  resourcePath({ apiVersion, resource: extensionResources[kind] });

export const getExtension = (kind: ExtensionKind, object: ExtensionObject): Call<ExtensionObject> => ({
  method: 'GET',
  path: objectPath(kind, object),
  decode: (json) => decodeExtension(json, kind),
});

/** True if the Shoot in a Cluster (`extensions.gardener.cloud/v1alpha1`) is hibernated by its spec. */
export const decodeHibernation = (json: unknown, path: string): boolean => {
  const spec = childObject(decodeObject(json, path), path, 'spec');
  const shoot = childObject(spec, `${path}.spec`, 'shoot');
  return decodeShootState(shoot, `${path}.spec.shoot`).hibernationEnabled;
};

export const getCluster = (name: string): Call<JsonObject> => ({
  method: 'GET',
  path: resourcePath({ apiVersion, resource: 'clusters', name }),
  decode: (json) => decodeObject(json, 'cluster'),
});

/** Replaces the conditions. Fails with a Conflict if the object has changed since it was read. */
export const patchConditions = (
  kind: ExtensionKind,
  object: ExtensionObject,
  conditions: readonly (JsonObject | Condition)[],
): Call<undefined> => ({
  method: 'PATCH',
  path: `${objectPath(kind, object)}/status`,
  contentType: 'application/merge-patch+json',
  repeatable: true,
  body: { metadata: { resourceVersion: object.meta.resourceVersion }, status: { conditions } },
  decode: () => undefined,
});
