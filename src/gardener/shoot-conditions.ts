import { type Condition, sameCondition } from './condition.ts';

/** Condition types of a Shoot that care owns, in the order in which they are written. Workerless shoots have no `EveryNodeReady`. */
export const shootConditionTypes = [
  'APIServerAvailable',
  'ControlPlaneHealthy',
  'ObservabilityComponentsHealthy',
  'EveryNodeReady',
  'SystemComponentsHealthy',
] as const;

export type ShootConditionType = (typeof shootConditionTypes)[number];

/** The only one of these types that gardener takes from no extension: the request to the API server alone decides it. */
export const ownConditionType = 'APIServerAvailable' satisfies ShootConditionType;

/** A condition: ours, or a stored one with fields that only its writer knows. */
interface Typed {
  readonly type?: unknown;
}

const rankOf = ({ type }: Typed): number => shootConditionTypes.findIndex((owned) => owned === type);

/**
 * Merges the conditions of a Shoot: first the stored conditions that care does not own, unchanged, then `fresh` in the order of `shootConditionTypes`.
 * Drops stored conditions of owned types that are not in `fresh`.
 */
export const mergeShootConditions = <T extends Typed>(
  stored: readonly T[],
  fresh: readonly Condition[],
): readonly (T | Condition)[] => [
  ...stored.filter((condition) => rankOf(condition) === -1),
  ...fresh.toSorted((a, b) => rankOf(a) - rankOf(b)),
];

/** Merges the conditions of an extension object: each of `fresh` replaces the stored condition of its type; new types come last. */
export const mergeConditionsByType = <T extends Typed>(
  stored: readonly T[],
  fresh: readonly Condition[],
): readonly (T | Condition)[] => {
  const left = new Map(fresh.map((condition) => [condition.type, condition]));
  const replaced = stored.flatMap((condition): readonly (T | Condition)[] => {
    const replacement = fresh.find(({ type }) => type === condition.type);
    if (replacement === undefined) return [condition];
    // Keep only one condition of a type that is stored twice.
    return left.delete(replacement.type) ? [replacement] : [];
  });
  return [...replaced, ...left.values()];
};

/** Returns the stored conditions of all types except `types`. */
export const withoutConditionTypes = <T extends Typed>(stored: readonly T[], types: readonly string[]): readonly T[] =>
  stored.filter(({ type }) => typeof type !== 'string' || !types.includes(type));

/** True if both lists have equal conditions in the same order. */
export const sameConditions = (a: readonly Condition[], b: readonly Condition[]): boolean =>
  a.length === b.length &&
  a.every((condition, index) => {
    const other = b[index];
    return other !== undefined && sameCondition(condition, other);
  });
