import type { Condition } from '../gardener/condition.ts';
import { type ExtensionKind, decodeExtensionReport, extensionResources } from '../gardener/extensions.ts';
import { decodeLastOperation } from '../gardener/shoot-status.ts';
import type { Call } from '../kubernetes/api/call.ts';
import {
  type JsonObject,
  type ObjectMeta,
  childObject,
  decodeObject,
  optionalList,
  optionalObject,
  optionalString,
} from '../kubernetes/api/decode.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import type { ExtensionObject } from './check.ts';

const apiVersion = 'extensions.gardener.cloud/v1alpha1';

/** As gardener builds the names of BackupEntries (`pkg/utils/gardener/backupentry.go`, ExtractShootDetailsFromBackupEntryName). */
const controlPlaneOf = ({ namespace, name }: ObjectMeta): string => {
  if (namespace !== '') return namespace;
  const full = name.startsWith('source-') ? name.slice('source-'.length) : name;
  // There is text before and after the dashes.
  const end = full.lastIndexOf('--', full.length - 3);
  return end > 0 ? full.slice(0, end) : name;
};

export const decodeExtension = (json: unknown, path: string): ExtensionObject => {
  const object = decodeObject(json, path);
  const { meta, type, conditions } = decodeExtensionReport(object, path);
  const spec = childObject(object, path, 'spec');
  const lastOperation = decodeLastOperation(childObject(object, path, 'status'), `${path}.status`);
  return {
    meta,
    controlPlane: controlPlaneOf(meta),
    type,
    class: optionalString(spec.class, `${path}.spec.class`) ?? 'shoot',
    ...(lastOperation === undefined ? {} : { lastOperation }),
    conditions,
    object,
  };
};

/** True if the object must not be checked now: it is being deleted, or moved to another seed. */
export const isLeaving = ({ meta, lastOperation }: ExtensionObject): boolean =>
  meta.deleting || meta.annotations['gardener.cloud/operation'] === 'migrate' || lastOperation?.type === 'Migrate';

const objectPath = (kind: ExtensionKind, { meta: { namespace, name } }: ExtensionObject): string => {
  const place = namespace === '' ? {} : { namespace };
  return resourcePath({ apiVersion, resource: extensionResources[kind], ...place, name });
};

/** Lists the objects of all namespaces. */
export const listExtensions = (kind: ExtensionKind): Call<readonly ExtensionObject[]> =>
  listCall({ path: resourcePath({ apiVersion, resource: extensionResources[kind] }), decode: decodeExtension });

export const getExtension = (kind: ExtensionKind, object: ExtensionObject): Call<ExtensionObject> => ({
  method: 'GET',
  path: objectPath(kind, object),
  decode: (json) => decodeExtension(json, kind),
});

export const getCluster = (name: string): Call<JsonObject> => ({
  method: 'GET',
  path: resourcePath({ apiVersion, resource: 'clusters', name }),
  decode: (json) => decodeObject(json, 'cluster'),
});

/** The stored conditions with all their fields: those of others are written back as they are. */
export const storedConditions = ({ object }: ExtensionObject): readonly JsonObject[] => {
  const status = optionalObject(object.status, 'status') ?? {};
  const stored = optionalList(status.conditions, 'status.conditions') ?? [];
  return stored.map((item, index) => decodeObject(item, `status.conditions[${String(index)}]`));
};

/** Replaces the conditions; refused with a Conflict when the object is no longer as it was read. */
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
