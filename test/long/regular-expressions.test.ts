import { join } from 'node:path';
import { check } from 'recheck';
import { describe, expect, it } from 'vitest';
import { type RegularExpression, regularExpressionsOf } from '../architecture/regular-expressions.ts';

const root = join(import.meta.dirname, '../..');
const { literals, computed } = regularExpressionsOf(['src', 'simulator'].map((folder) => join(root, folder)));

/** Time limit of one proof, long enough for a busy machine. */
const proofMs = 100_000;

const prove = (source: string, flags: string) => check(source, flags, { timeout: proofMs });

/** Look-aheads, about which the checker can prove nothing; it tries attacks instead. These limit the rest of the expression to 253 characters. */
const lookAheads = ['^(?=.{1,253}$)', '^(?:(?=[^/]{1,253}\\/)'];

/** True if the expression has only counted repetitions, so that its number of steps from each position is bounded. */
const isCounted = (source: string): boolean => !/[*+]|\{\d+,\}/.test(source.replaceAll(/\\.|\[(?:\\.|[^\]])*\]/g, ''));

const needsProof = ({ source }: RegularExpression): boolean =>
  !isCounted(source) && !lookAheads.some((start) => source.startsWith(start));

/**
 * An expression that backtracks takes minutes for a text that is crafted for it, and blocks all probes meanwhile: 80,000 slashes in a kubeconfig
 * once took 5 s. So every expression in the product must be linear. The simulator is included because it reads requests of our client and kubectl,
 * and configurations.
 */
describe('rule 30: regular expressions take time in proportion to the text', () => {
  it('rule 30: the checker finds expressions that once were mistakes', async () => {
    for (const source of ['\\/+$', ' ?\\[response_time:[^\\]]*\\]', '^(a+)+$']) {
      expect((await prove(source, '')).status, source).toBe('vulnerable');
    }
  });

  it('rule 30: none is computed at run time, because such an expression cannot be checked', () => {
    expect(computed).toEqual([]);
  });

  it('rule 30: the parser finds the expressions', () => {
    expect(literals.length).toBeGreaterThan(80);
  });

  it.each(literals)('rule 30: /$source/$flags', async (expression) => {
    const { source, flags, places } = expression;
    const { status, checker } = await prove(source, flags);
    expect({ status, places }).toEqual({ status: 'safe', places });
    if (needsProof(expression)) expect({ checker, places }).toEqual({ checker: 'automaton', places });
  });
});
