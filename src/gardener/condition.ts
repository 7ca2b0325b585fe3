import { isDeepStrictEqual } from 'node:util';
import {
  type JsonObject,
  childObject,
  childObjects,
  decodeString,
  optionalList,
  optionalString,
} from '../kubernetes/api/decode.ts';
import { formatTime } from '../kubernetes/api/meta-time.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown' | 'Progressing';

/** One condition of a Shoot or of an extension object (`core.gardener.cloud/v1beta1`). Conditions of other kinds are decoded into it, too. */
export interface Condition {
  readonly type: string;
  /** A ConditionStatus; a condition that was read may have any other text. */
  readonly status: string;
  /** Time of the last change of the status: RFC 3339, whole seconds. Empty if absent. */
  readonly lastTransitionTime: string;
  /** Time of the last change of reason, message or codes, in the same format. */
  readonly lastUpdateTime: string;
  readonly reason: string;
  readonly message: string;
  /** Gardener's error codes; absent if there are none. */
  readonly codes?: readonly string[];
}

/** The type of a condition and its stored state, from which an update starts. */
export interface ConditionBase {
  /** Never empty. */
  readonly type: string;
  /** The stored condition, if there is one. */
  readonly old?: Condition | undefined;
}

/** A change to a condition. Absent fields keep their values, except that absent codes remove all codes. */
export interface ConditionChange {
  readonly status?: ConditionStatus;
  readonly reason?: string;
  readonly message?: string;
  readonly codes?: readonly string[];
}

const initialReason = 'ConditionInitialized';
const initialMessage = 'The condition has been initialized but its semantic check has not been performed yet.';

/** Maximum length of a message, as in `metav1.Condition`: parts of it may come from nodes, which users control. */
const longestMessage = 32_768;
const bounded = (message: string): string =>
  message.length > longestMessage ? `${message.slice(0, longestMessage - 3)}...` : message;

const textOf = ({ reason, message, codes = [] }: Condition) => [reason, message, codes];

/** True if two conditions are equal in every field. Absent codes equal an empty list. */
const sameCondition = (a: Condition, b: Condition): boolean =>
  isDeepStrictEqual({ ...a, codes: a.codes ?? [] }, { ...b, codes: b.codes ?? [] });

/**
 * Applies `change` to the old condition at `now` (milliseconds since the epoch); returns `old` itself if nothing differs. `lastTransitionTime` becomes `now` only if the status changes, and
 * `lastUpdateTime` only if reason, message or codes change; missing times become `now`. Throws a RangeError for an empty type.
 * Like gardener's ConditionBuilder (`pkg/api/core/v1beta1/helper/condition_builder.go`).
 */
export const updateCondition = ({ type, old }: ConditionBase, change: ConditionChange, now: number): Condition => {
  if (type === '') throw new RangeError('condition: the type must not be empty');
  const { codes = [] } = change;
  const time = formatTime(now);
  const next: Condition = {
    type,
    status: change.status ?? (old?.status || 'Unknown'),
    lastTransitionTime: old?.lastTransitionTime || time,
    lastUpdateTime: old?.lastUpdateTime || time,
    reason: change.reason === undefined ? old?.reason || initialReason : change.reason || 'Unspecified',
    message:
      change.message === undefined ? old?.message || initialMessage : bounded(change.message) || 'No message given.',
    codes: codes.length === 0 ? undefined : codes,
  };
  if (old === undefined) return next;
  const updated: Condition = {
    ...next,
    lastTransitionTime: next.status === old.status ? next.lastTransitionTime : time,
    lastUpdateTime: isDeepStrictEqual(textOf(next), textOf(old)) ? next.lastUpdateTime : time,
  };
  return sameCondition(updated, old) ? old : updated;
};

/** A condition whose check has not been performed yet. */
export const newCondition = (type: string, now: number): Condition => updateCondition({ type }, {}, now);

export const findCondition = <C extends { readonly type: string }>(
  conditions: readonly C[],
  type: string,
): C | undefined => conditions.find((condition) => condition.type === type);

const decodeCondition = (object: JsonObject, path: string): Condition => {
  const text = (field: string): string => optionalString(object[field], `${path}.${field}`) ?? '';
  const codes = (optionalList(object.codes, `${path}.codes`) ?? []).map((code, index) =>
    decodeString(code, `${path}.codes[${String(index)}]`),
  );
  return {
    type: decodeString(object.type, `${path}.type`),
    status: text('status'),
    lastTransitionTime: text('lastTransitionTime'),
    lastUpdateTime: text('lastUpdateTime'),
    reason: text('reason'),
    message: text('message'),
    codes: codes.length === 0 ? undefined : codes,
  };
};

/** Decodes the `conditions` of a `status` of any kind. Throws a DecodeError. */
export const decodeConditions = (status: JsonObject, path: string): readonly Condition[] =>
  childObjects(status, path, 'conditions').map((item) => decodeCondition(item.object, item.path));

/** Returns the stored conditions of an object with all their fields: those of other writers are written back unchanged. Throws a DecodeError. */
export const storedConditions = (object: JsonObject, path: string): readonly JsonObject[] =>
  childObjects(childObject(object, path, 'status'), `${path}.status`, 'conditions').map((item) => item.object);

/** A condition: ours, or a stored one with fields that only its writer knows. */
interface Typed {
  readonly type?: unknown;
}

/** Replaces the stored conditions of the types `owned` and of those in `fresh`, which come last. The others stay as they are stored, and in their order. */
export const mergeConditions = <T extends Typed>(
  stored: readonly T[],
  fresh: readonly Condition[],
  owned: readonly string[],
): readonly (T | Condition)[] => {
  const replaced: ReadonlySet<unknown> = new Set([...owned, ...fresh.map(({ type }) => type)]);
  return [...stored.filter(({ type }) => !replaced.has(type)), ...fresh];
};
