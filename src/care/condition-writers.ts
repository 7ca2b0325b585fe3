import { shootConditionTypes } from '../gardener/shoot-conditions.ts';
import {
  type JsonObject,
  childObject,
  childObjects,
  optionalObject,
  optionalString,
} from '../kubernetes/api/decode.ts';

/** A client that wrote within this time, in milliseconds, is expected to write again. Two writers would make a condition flap. */
const recentMs = 300_000;

/** Keys of the owned types in the `managedFields` of a list that is merged by `type`, as structured-merge-diff writes them. */
const ownedKeys: ReadonlySet<string> = new Set(shootConditionTypes.map((type) => `k:${JSON.stringify({ type })}`));

/** True if the entry contains a condition that care owns. An entry without items is that of an atomic list, which its manager has written as a whole. */
const namesOwned = (conditions: JsonObject): boolean => {
  const keys = Object.keys(conditions);
  return keys.length === 0 || keys.some((key) => ownedKeys.has(key));
};

const writerOf = (entry: JsonObject, path: string): { readonly manager: string; readonly at: number } | undefined => {
  const fields = childObject(entry, path, 'fieldsV1');
  const status = childObject(fields, `${path}.fieldsV1`, 'f:status');
  const conditions = optionalObject(status['f:conditions'], `${path}.fieldsV1.f:status.f:conditions`);
  if (conditions === undefined || !namesOwned(conditions)) return undefined;
  const manager = optionalString(entry.manager, `${path}.manager`) ?? '';
  return { manager, at: Date.parse(optionalString(entry.time, `${path}.time`) ?? '') };
};

/**
 * Returns the field manager, such as `gardenlet`, of the other client that wrote conditions of the types that care owns within the last 5 minutes, by the
 * `managedFields` of the Shoot's metadata; the latest if there are several. `own`: field manager of our own writes; `now`: milliseconds since the epoch.
 */
export const otherConditionWriter = (
  metadata: JsonObject,
  { own, now }: { readonly own: string; readonly now: number },
): string | undefined =>
  childObjects(metadata, 'metadata', 'managedFields')
    .flatMap((entry) => writerOf(entry.object, entry.path) ?? [])
    .filter(({ manager, at }) => manager !== own && now - at <= recentMs)
    .toSorted((a, b) => b.at - a.at)
    .at(0)?.manager;
