import { goQuote } from '../kubernetes/api/go-quote.ts';
import { type Condition, findCondition } from './condition.ts';

/** Which conditions of an object must say what. They are looked at in this order, and the first problem decides. */
export interface ConditionRules {
  /** Must be there and be True. */
  readonly isTrue: readonly string[];
  /** True, if present. */
  readonly maybeTrue?: readonly string[];
  /** False, if present. */
  readonly maybeFalse?: readonly string[];
}

/** The words for a condition that says the wrong thing. */
type DescribeWrong = (condition: Condition, expected: string) => string;

const describeWrong: DescribeWrong = ({ type, status, reason, message }, expected) =>
  `condition ${goQuote(type)} has invalid status ${status} (expected ${expected}) due to ${reason}: ${message}`;

const rulesOf = ({ isTrue, maybeTrue = [], maybeFalse = [] }: ConditionRules) => [
  ...[...isTrue, ...maybeTrue].map((type) => ({ type, expected: 'True' })),
  ...maybeFalse.map((type) => ({ type, expected: 'False' })),
];

/** The first condition that is there and says the wrong thing; none where one is missing before it. */
export const wrongCondition = (conditions: readonly Condition[], rules: ConditionRules): Condition | undefined => {
  for (const { type, expected } of rulesOf(rules)) {
    const condition = findCondition(conditions, type);
    if (condition === undefined ? rules.isTrue.includes(type) : condition.status !== expected) return condition;
  }
  return undefined;
};

/** What is wrong with an object's conditions, in the words that follow "is unhealthy: ". As gardener's `pkg/utils/kubernetes/health`. */
export const conditionProblem = (
  conditions: readonly Condition[],
  rules: ConditionRules,
  describe: DescribeWrong = describeWrong,
): string | undefined => {
  for (const { type, expected } of rulesOf(rules)) {
    const condition = findCondition(conditions, type);
    if (condition === undefined && rules.isTrue.includes(type)) return `condition ${goQuote(type)} is missing`;
    if (condition !== undefined && condition.status !== expected) return describe(condition, expected);
  }
  return undefined;
};

/** How far the controller of an object has followed its changes. */
export interface Generations {
  readonly generation: number;
  /** 0 where the status does not say. */
  readonly observedGeneration: number;
}

/** `(<observed>/<generation>)`, as messages have it. */
export const generationRatio = ({ observedGeneration, generation }: Generations): string =>
  `(${observedGeneration}/${generation})`;

export const outdatedProblem = (generations: Generations): string | undefined =>
  generations.observedGeneration < generations.generation
    ? `observed generation outdated ${generationRatio(generations)}`
    : undefined;
