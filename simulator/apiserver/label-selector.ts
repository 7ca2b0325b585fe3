import { isLabelKey, isLabelValue } from '../../src/kubernetes/api/label-selectors.ts';
import { badRequest } from './status.ts';

export type Labels = Readonly<Record<string, string>>;
export type LabelMatcher = (labels: Labels) => boolean;

// The grammar and the errors are those of k8s.io/apimachinery/pkg/labels/selector.go.

interface Token {
  readonly kind: 'word' | 'symbol' | 'end';
  readonly text: string;
}

const symbols = ['==', '!=', '=', '!', '(', ')', ',', '<', '>'];
const wordPattern = /[^\s=!(),<>]+/y;

const tokenize = (text: string): readonly Token[] => {
  const tokens: Token[] = [];
  let index = 0;
  while (index < text.length) {
    if (/\s/.test(text.charAt(index))) {
      index += 1;
      continue;
    }
    const symbol = symbols.find((candidate) => text.startsWith(candidate, index));
    wordPattern.lastIndex = index;
    const word = symbol ?? wordPattern.exec(text)?.[0] ?? text.charAt(index);
    tokens.push({ kind: symbol === undefined ? 'word' : 'symbol', text: word });
    index += word.length;
  }
  return tokens;
};

const unparsable = (found: Token, expected: string): Error =>
  badRequest(`unable to parse requirement: found '${found.text}' expected: ${expected}`);

const has = (labels: Labels, key: string): boolean => Object.hasOwn(labels, key);

const requirement = (key: string, operator: string, values: readonly string[]): LabelMatcher => {
  const wrong = values.find((value) => !isLabelValue(value));
  if (wrong !== undefined) {
    throw badRequest(`unable to parse requirement: values[0][${key}]: Invalid value: "${wrong}"`);
  }
  switch (operator) {
    case '=':
    case '==':
    case 'in':
      return (labels) => has(labels, key) && values.includes(labels[key] ?? '');
    case '!=':
    case 'notin':
      return (labels) => !has(labels, key) || !values.includes(labels[key] ?? '');
    case '<':
      return (labels) => has(labels, key) && Number(labels[key]) < Number(values[0]);
    default:
      return (labels) => has(labels, key) && Number(labels[key]) > Number(values[0]);
  }
};

/** Compiles a `labelSelector`; throws a BadRequest StatusError where it cannot be parsed. */
export const parseLabelSelector = (text: string): LabelMatcher => {
  const tokens = tokenize(text);
  let position = 0;
  const peek = (): Token => tokens[position] ?? { kind: 'end', text: '' };
  const take = (): Token => {
    const token = peek();
    position += 1;
    return token;
  };

  const key = (): string => {
    const token = take();
    if (token.kind !== 'word') throw unparsable(token, "!, identifier, or 'end of string'");
    if (!isLabelKey(token.text)) {
      throw badRequest(`unable to parse requirement: key: Invalid value: "${token.text}": name part must be valid`);
    }
    return token.text;
  };

  const value = (): string => (peek().kind === 'word' ? take().text : '');

  const set = (): readonly string[] => {
    const open = take();
    if (open.text !== '(') throw unparsable(open, "'('");
    const values: string[] = [];
    while (true) {
      values.push(value());
      const next = take();
      if (next.text === ')') return values;
      if (next.text !== ',') throw unparsable(next, "',' or ')'");
    }
  };

  const term = (): LabelMatcher => {
    if (peek().text === '!') {
      take();
      const absent = key();
      return (labels) => !has(labels, absent);
    }
    const name = key();
    const operator = peek();
    if (operator.kind === 'end' || operator.text === ',') return (labels) => has(labels, name);
    take();
    if (operator.text === 'in' || operator.text === 'notin') return requirement(name, operator.text, set());
    if (operator.kind === 'word' || !['=', '==', '!=', '<', '>'].includes(operator.text)) {
      throw unparsable(operator, 'in, notin, =, ==, !=, gt, lt');
    }
    return requirement(name, operator.text, [value()]);
  };

  const terms: LabelMatcher[] = [];
  while (peek().kind !== 'end') {
    terms.push(term());
    const next = take();
    if (next.kind === 'end') break;
    if (next.text !== ',') throw unparsable(next, "',' or 'end of string'");
    if (peek().kind === 'end') throw unparsable(peek(), 'identifier after ,');
  }
  return (labels) => terms.every((matches) => matches(labels));
};
