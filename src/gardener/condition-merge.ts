import { type Condition, sameCondition } from './condition.ts';

/** Types of a Shoot that care owns, in the order they are written. `EveryNodeReady` is left out for workerless shoots. */
export const shootConditionTypes = [
  'APIServerAvailable',
  'ControlPlaneHealthy',
  'ObservabilityComponentsHealthy',
  'EveryNodeReady',
  'SystemComponentsHealthy',
] as const;

export type ShootConditionType = (typeof shootConditionTypes)[number];

/** A condition, or one as it is stored: with fields that only its writer knows. */
interface Typed {
  readonly type?: unknown;
}

const rankOf = ({ type }: Typed): number => shootConditionTypes.findIndex((owned) => owned === type);

/**
 * The conditions of a Shoot: those of others first and as they are, then `fresh` in the order of `shootConditionTypes`. What is stored of
 * an owned type and not in `fresh` is dropped.
 */
export const mergeShootConditions = <T extends Typed>(
  stored: readonly T[],
  fresh: readonly Condition[],
): readonly (T | Condition)[] => [
  ...stored.filter((condition) => rankOf(condition) === -1),
  ...fresh.toSorted((a, b) => rankOf(a) - rankOf(b)),
];

/** The conditions of an extension object: each of `fresh` in the place of the stored one of its type, new types at the end. */
export const mergeConditionsByType = <T extends Typed>(
  stored: readonly T[],
  fresh: readonly Condition[],
): readonly (T | Condition)[] => {
  const left = new Map(fresh.map((condition) => [condition.type, condition]));
  const replaced = stored.flatMap((condition): readonly (T | Condition)[] => {
    const replacement = fresh.find(({ type }) => type === condition.type);
    if (replacement === undefined) return [condition];
    // A type that is stored twice is left once.
    return left.delete(replacement.type) ? [replacement] : [];
  });
  return [...replaced, ...left.values()];
};

/** Those of other types than these. */
export const withoutConditionTypes = <T extends Typed>(stored: readonly T[], types: readonly string[]): readonly T[] =>
  stored.filter(({ type }) => typeof type !== 'string' || !types.includes(type));

/** Whether two lists say the same, in the same order. */
export const sameConditions = (a: readonly Condition[], b: readonly Condition[]): boolean =>
  a.length === b.length &&
  a.every((condition, index) => {
    const other = b[index];
    return other !== undefined && sameCondition(condition, other);
  });
