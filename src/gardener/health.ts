import type { Call } from '../kubernetes/api/call.ts';
import {
  type JsonObject,
  type ObjectMeta,
  childObject,
  decodeMeta,
  decodeObject,
  optionalInteger,
} from '../kubernetes/api/decode.ts';
import { goQuote } from '../kubernetes/api/go-quote.ts';
import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { type Condition, decodeConditions, findCondition } from './condition.ts';

/** The health of an object that reports its state as conditions. */
export interface ObjectHealth {
  readonly meta: ObjectMeta;
  /** The text after "is unhealthy: ", found when the object is read; absent if it is healthy. */
  readonly problem?: string;
}

interface Generations {
  /** `metadata.generation`, which grows with each change of the spec. */
  readonly generation: number;
  /** The generation that the controller of the object has seen; 0 if absent. */
  readonly observedGeneration: number;
}

/** Parts of an object during decoding; absent parts are empty. */
export interface ObjectParts extends Generations {
  readonly meta: ObjectMeta;
  readonly conditions: readonly Condition[];
  readonly spec: JsonObject;
  readonly status: JsonObject;
  readonly path: string;
}

export const decodeParts = (json: unknown, path: string): ObjectParts => {
  const object = decodeObject(json, path);
  const meta = decodeMeta(object, path);
  const status = childObject(object, path, 'status');
  return {
    meta,
    generation: meta.generation ?? 0,
    observedGeneration: optionalInteger(status.observedGeneration, `${path}.status.observedGeneration`) ?? 0,
    conditions: decodeConditions(status, `${path}.status`),
    spec: childObject(object, path, 'spec'),
    status,
    path,
  };
};

/** Returns a function that makes the call that gets one object. */
export const objectGetter =
  <T>(apiVersion: string, resource: string, decode: (json: unknown, path: string) => T) =>
  ({ namespace, name }: NamespacedName): Call<T> => ({
    method: 'GET',
    path: resourcePath({ apiVersion, resource, namespace, name }),
    decode: (json) => decode(json, resource),
  });

/** Formats generations for messages, as `(<observed>/<generation>)`. */
export const generationRatio = ({ observedGeneration, generation }: Generations): string =>
  `(${observedGeneration}/${generation})`;

export const outdatedProblem = (generations: Generations): string | undefined =>
  generations.observedGeneration < generations.generation
    ? `observed generation outdated ${generationRatio(generations)}`
    : undefined;

/** Required status of an object's conditions. They are checked in this order, and the first problem is the result. */
interface ConditionRules {
  /** Types that must exist and be True. */
  readonly isTrue: readonly string[];
  /** Types that must be True if they exist. */
  readonly maybeTrue?: readonly string[];
  /** Types that must be False if they exist. */
  readonly maybeFalse?: readonly string[];
}

type ToldCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

const describeWrong = ({ type, status, reason, message }: ToldCondition, expected: string): string =>
  `condition ${goQuote(type)} has invalid status ${status} (expected ${expected}) due to ${reason}: ${message}`;

/** Returns the problem with an object's conditions. Like gardener's `pkg/utils/kubernetes/health`. `describe` describes a condition with the wrong status. */
export const conditionProblem = (
  conditions: readonly ToldCondition[],
  { isTrue, maybeTrue = [], maybeFalse = [] }: ConditionRules,
  describe = describeWrong,
): string | undefined => {
  const rules = [
    ...[...isTrue, ...maybeTrue].map((type) => ({ type, expected: 'True' })),
    ...maybeFalse.map((type) => ({ type, expected: 'False' })),
  ];
  for (const { type, expected } of rules) {
    const condition = findCondition(conditions, type);
    if (condition === undefined && isTrue.includes(type)) return `condition ${goQuote(type)} is missing`;
    if (condition !== undefined && condition.status !== expected) return describe(condition, expected);
  }
  return undefined;
};
