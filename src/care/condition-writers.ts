import { type Condition, findCondition } from '../gardener/condition.ts';
import { shootConditionTypes } from '../gardener/shoot-conditions.ts';
import {
  type JsonObject,
  childObject,
  childObjects,
  decodeObject,
  optionalObject,
  optionalString,
} from '../kubernetes/api/decode.ts';

/** A client that wrote within this time, in milliseconds, is expected to write again. Two writers would make a condition flap. */
export const firstPatienceMs = 300_000;
const longestPatienceMs = 86_400_000;

/**
 * The patience after somebody has overwritten our conditions. gardenlet moves their times only with a change, so beside a stable shoot it looks gone. It has a
 * limit because a writer may end: gardener-controller-manager makes all conditions Unknown while gardenlet is down.
 */
export const longerPatienceMs = (patienceMs: number): number => Math.min(patienceMs * 4, longestPatienceMs);

/** Each write of a condition moves one of these: the first with the status, the second with everything else. Whoever wrote it last owns it. */
const timeFields = ['lastTransitionTime', 'lastUpdateTime'] as const;

/** The types that care owns, by their keys in the `managedFields` of a list that is merged by `type`, as structured-merge-diff writes them. */
const typeOfKey = new Map(shootConditionTypes.map((type) => [`k:${JSON.stringify({ type })}`, type]));

/** Returns when the owner of these fields last wrote conditions that care owns, by the times of the stored ones. */
const writtenAt = (fields: JsonObject, path: string, stored: readonly Condition[]): number => {
  const times = Object.entries(fields).flatMap(([key, owned]) => {
    const type = typeOfKey.get(key);
    const condition = type && findCondition(stored, type);
    if (condition === undefined) return [];
    const names = Object.keys(decodeObject(owned, `${path}.${key}`));
    return timeFields.filter((field) => names.includes(`f:${field}`)).map((field) => Date.parse(condition[field]));
  });
  return Math.max(...times.filter((time) => !Number.isNaN(time)));
};

/**
 * The time of an entry is the API server's, of the last write of any field of its manager. So it only bounds the conditions' own times, which come from their
 * writer's clock: gardenlet moves it with each progress of an operation, and keeps owning `f:type`, which care never changes, and values that care found right.
 * An entry without items is that of an atomic list, which its manager has written as a whole.
 */
const writerOf = (
  entry: JsonObject,
  path: string,
  stored: readonly Condition[],
): { readonly manager: string; readonly at: number } | undefined => {
  const fields = childObject(entry, path, 'fieldsV1');
  const status = childObject(fields, `${path}.fieldsV1`, 'f:status');
  const at = `${path}.fieldsV1.f:status.f:conditions`;
  const conditions = optionalObject(status['f:conditions'], at);
  if (conditions === undefined) return undefined;
  const manager = optionalString(entry.manager, `${path}.manager`) ?? '';
  const time = Date.parse(optionalString(entry.time, `${path}.time`) ?? '');
  if (Object.keys(conditions).length === 0) return { manager, at: time };
  const own = writtenAt(conditions, at, stored);
  return { manager, at: Number.isNaN(time) ? own : Math.min(own, time) };
};

/**
 * Returns the field manager, such as `gardenlet`, of the other client that has written conditions of the types that care owns since `since` (milliseconds
 * since the epoch), by the `managedFields` of the Shoot's metadata and its `conditions`; the latest if there are several. `own`: field manager of our own
 * writes.
 */
export const otherConditionWriter = (
  metadata: JsonObject,
  {
    own,
    since,
    conditions,
  }: { readonly own: string; readonly since: number; readonly conditions: readonly Condition[] },
): string | undefined =>
  childObjects(metadata, 'metadata', 'managedFields')
    .flatMap((entry) => writerOf(entry.object, entry.path, conditions) ?? [])
    .filter(({ manager, at }) => manager !== own && at >= since)
    .toSorted((a, b) => b.at - a.at)
    .at(0)?.manager;
