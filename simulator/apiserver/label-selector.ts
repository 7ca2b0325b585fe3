import { isLabelKey, isLabelValue } from '../../src/kubernetes/api/label-selectors.ts';
import { type StatusError, badRequest } from './status.ts';

type LabelMatcher = (labels: Readonly<Record<string, string>>) => boolean;

// The grammar is that of k8s.io/apimachinery/pkg/labels/selector.go without `<` and `>`, which none of our clients sends.

const keyPattern = /^[^\s=!(),<>]+$/;
const equalityPattern = /^([^\s=!(),<>]+)\s*(==|=|!=)([^=!(),<>]*)$/;
const setPattern = /^([^\s=!(),<>]+)\s+(in|notin)\s*\(([^()]*)\)$/;

interface Term {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const readTerm = (text: string): Term | undefined => {
  const [, setKey, setOperator, list] = setPattern.exec(text) ?? [];
  if (setKey !== undefined && setOperator !== undefined && list !== undefined) {
    return { key: setKey, operator: setOperator, values: list.split(',').map((value) => value.trim()) };
  }
  const [, key, operator, value] = equalityPattern.exec(text) ?? [];
  if (key !== undefined && operator !== undefined && value !== undefined) {
    return { key, operator: operator === '!=' ? 'notin' : 'in', values: [value.trim()] };
  }
  const [bare, absent] = text.startsWith('!') ? [text.slice(1).trim(), 'absent'] : [text, 'present'];
  return keyPattern.test(bare) ? { key: bare, operator: absent, values: [] } : undefined;
};

const unparsable = (term: string): StatusError => {
  const found = /\s(?:in|notin)\s+([^\s(]+)/.exec(term)?.[1];
  const problem = found === undefined ? `'${term}'` : `found '${found}' expected: '('`;
  return badRequest(`unable to parse requirement: ${problem}`);
};

const parseTerm = (text: string): LabelMatcher => {
  const term = readTerm(text.trim());
  if (term === undefined) throw unparsable(text);
  const { key, operator, values } = term;
  if (!isLabelKey(key)) throw badRequest(`unable to parse requirement: key: Invalid value: "${key}"`);
  const wrong = values.find((value) => !isLabelValue(value));
  if (wrong !== undefined) {
    throw badRequest(`unable to parse requirement: values[0][${key}]: Invalid value: "${wrong}"`);
  }
  return (labels) => {
    const found = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (operator === 'present' || operator === 'absent') return (found === undefined) === (operator === 'absent');
    return (found !== undefined && values.includes(found)) === (operator === 'in');
  };
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

/** Compiles a `labelSelector`; throws a BadRequest StatusError if it cannot be parsed. */
export const parseLabelSelector = (text: string): LabelMatcher => {
  const terms = text.trim() === '' ? [] : splitTerms(text).map(parseTerm);
  return (labels) => terms.every((matches) => matches(labels));
};
