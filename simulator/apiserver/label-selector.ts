import { type LabelRequirement, isLabelKey, isLabelValue } from '../../src/kubernetes/api/label-selectors.ts';
import { badRequest } from './status.ts';

// The grammar is that of k8s.io/apimachinery/pkg/labels/selector.go without `<` and `>`, which none of our clients sends.

const equalityPattern = /^([^\s=!(),<>]+)\s*(==|=|!=)([^=!(),<>]*)$/;
const setPattern = /^([^\s=!(),<>]+)\s+(in|notin)\s*\(([^()]*)\)$/;

const readTerm = (text: string): LabelRequirement => {
  const [, setKey, setOperator, list] = setPattern.exec(text) ?? [];
  if (setKey !== undefined && list !== undefined) {
    const values = list.split(',').map((value) => value.trim());
    return { key: setKey, operator: setOperator === 'in' ? 'In' : 'NotIn', values };
  }
  const [, key, operator, value] = equalityPattern.exec(text) ?? [];
  if (key !== undefined && value !== undefined) {
    return { key, operator: operator === '!=' ? 'NotIn' : 'In', values: [value.trim()] };
  }
  return text.startsWith('!')
    ? { key: text.slice(1).trim(), operator: 'DoesNotExist', values: [] }
    : { key: text, operator: 'Exists', values: [] };
};

const parseTerm = (text: string): LabelRequirement => {
  const term = readTerm(text.trim());
  if (isLabelKey(term.key) && term.values.every(isLabelValue)) return term;
  throw badRequest(`unable to parse requirement: '${text}'`);
};

/** Splits a text at commas outside of parentheses. */
const splitTerms = (text: string): readonly string[] => {
  const terms: string[] = [];
  let term = '';
  let isInside = false;
  for (const character of text) {
    if (character === '(') isInside = true;
    if (character === ')') isInside = false;
    if (character === ',' && !isInside) {
      terms.push(term);
      term = '';
    } else term += character;
  }
  return [...terms, term];
};

type Labels = Readonly<Record<string, string>>;

/** An absent label satisfies `!=` and `notin`, as in `Requirement.Matches` (apimachinery `pkg/labels/selector.go`). */
const holds = ({ key, operator, values }: LabelRequirement, labels: Labels): boolean => {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
};

/** Compiles a `labelSelector`; throws a BadRequest StatusError if it cannot be parsed. */
export const parseLabelSelector = (text: string): ((labels: Labels) => boolean) => {
  const terms = text.trim() === '' ? [] : splitTerms(text).map(parseTerm);
  return (labels) => terms.every((term) => holds(term, labels));
};
