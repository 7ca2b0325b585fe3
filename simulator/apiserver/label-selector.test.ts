import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LabelRequirement, formatLabelSelector, matchesLabels } from '../../src/kubernetes/api/label-selectors.ts';
import { parseLabelSelector } from './label-selector.ts';

const keys = fc.constantFrom('app', 'tier', 'example.io/role', 'in', 'notin');
const values = fc.constantFrom('', 'x', 'y', 'A_1.b-c', 'in');
const labels = fc.dictionary(keys, values, { maxKeys: 4 });

interface Term {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const terms = fc.array(
  fc.record<Term>({
    key: keys,
    operator: fc.constantFrom('=', '==', '!=', 'in', 'notin', 'exists', '!'),
    values: fc.array(values, { minLength: 1, maxLength: 3 }),
  }),
  { maxLength: 4 },
);

const render = ({ key, operator, values: list }: Term, space: string): string => {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${space}${key}`;
  if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${list.join(`,${space}`)})`;
  return `${key}${space}${operator}${space}${list[0] ?? ''}`;
};

const holds = ({ key, operator, values: list }: Term, of: Readonly<Record<string, string>>): boolean => {
  const value = of[key];
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'in':
      return value !== undefined && list.includes(value);
    case 'notin':
      return value === undefined || !list.includes(value);
    case '!=':
      return value !== list[0];
    default:
      return value === list[0];
  }
};

describe('a label selector', () => {
  it('matches the labels that all of its terms match, with any spacing', () => {
    fc.assert(
      fc.property(terms, labels, fc.constantFrom('', ' '), (list, of, space) => {
        // A bare key that is named like an operator is ambiguous; the real parser has the same limit.
        const usable = list.filter(
          ({ key, operator }) => !(operator === 'exists' && (key === 'in' || key === 'notin')),
        );
        const text = usable.map((term) => render(term, space)).join(`,${space}`);
        expect([text, parseLabelSelector(text)(of)]).toEqual([text, usable.every((term) => holds(term, of))]);
      }),
      { numRuns: 500 },
    );
  });

  it('parses the selectors that our client formats, and matches the same labels', () => {
    const list = fc.array(values, { minLength: 1, maxLength: 4 });
    const requirement = fc.oneof(
      fc.record<LabelRequirement>({ key: keys, operator: fc.constantFrom('In', 'NotIn'), values: list }),
      fc.record<LabelRequirement>({
        key: keys,
        operator: fc.constantFrom('Exists', 'DoesNotExist'),
        values: fc.constant([]),
      }),
    );
    const selector = fc.record({ matchLabels: labels, matchExpressions: fc.array(requirement, { maxLength: 4 }) });
    fc.assert(
      fc.property(selector, labels, (wanted, of) => {
        const text = formatLabelSelector(wanted);
        expect([text, parseLabelSelector(text)(of)]).toEqual([text, matchesLabels(wanted, of)]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('parses or throws BadRequest, nothing else', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', '=', '!', '(', ')', ',', ' ', 'in', 'notin', '<', '>', '-', '/', '.'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (selector) => {
        try {
          parseLabelSelector(selector)({ a: 'b' });
        } catch (error) {
          expect(error).toMatchObject({ name: 'StatusError', status: { code: 400, reason: 'BadRequest' } });
        }
      }),
    );
  });
});
