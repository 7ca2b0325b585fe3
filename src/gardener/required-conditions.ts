import { goQuote } from '../kubernetes/api/go-quote.ts';
import { type Condition, findCondition } from './condition.ts';

/** Required status of an object's conditions. They are checked in this order, and the first problem is the result. */
export interface ConditionRules {
  /** Types that must exist and be True. */
  readonly isTrue: readonly string[];
  /** Types that must be True if they exist. */
  readonly maybeTrue?: readonly string[];
  /** Types that must be False if they exist. */
  readonly maybeFalse?: readonly string[];
}

/** Describes a condition with the wrong status. */
type DescribeWrong = (condition: Condition, expected: string) => string;

const describeWrong: DescribeWrong = ({ type, status, reason, message }, expected) =>
  `condition ${goQuote(type)} has invalid status ${status} (expected ${expected}) due to ${reason}: ${message}`;

const rulesOf = ({ isTrue, maybeTrue = [], maybeFalse = [] }: ConditionRules) => [
  ...[...isTrue, ...maybeTrue].map((type) => ({ type, expected: 'True' })),
  ...maybeFalse.map((type) => ({ type, expected: 'False' })),
];

/** Returns the first condition with the wrong status, or undefined if there is none or a required condition before it is missing. */
export const wrongCondition = (conditions: readonly Condition[], rules: ConditionRules): Condition | undefined => {
  for (const { type, expected } of rulesOf(rules)) {
    const condition = findCondition(conditions, type);
    if (condition === undefined ? rules.isTrue.includes(type) : condition.status !== expected) return condition;
  }
  return undefined;
};

/** Returns the problem with an object's conditions, as the text after "is unhealthy: ". Like gardener's `pkg/utils/kubernetes/health`. */
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
