import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LabelRequirement, formatLabelSelector, matchesLabels } from '../../src/kubernetes/api/label-selectors.ts';
import { parseLabelSelector } from './label-selector.ts';

const keys = fc.constantFrom('app', 'tier', 'example.io/role', 'in', 'notin');
const values = fc.constantFrom('', 'x', 'y', 'A_1.b-c', 'in');
const labels = fc.dictionary(keys, values, { maxKeys: 4 });

describe('a label selector', () => {
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
});
