import { join } from 'node:path';
import { check } from 'recheck';
import { describe, expect, it } from 'vitest';
import { type RegularExpression, regularExpressionsOf } from './regular-expressions.ts';

const root = join(import.meta.dirname, '../..');
const { literals, computed } = regularExpressionsOf(['src', 'simulator'].map((folder) => join(root, folder)));

/** Of one proof on a busy machine. */
const proofMs = 100_000;

const prove = (source: string, flags: string) => check(source, flags, { timeout: proofMs });

/** Of a look-ahead nothing can be proved; attacks are tried. These let no more than 253 characters through to the rest. */
const lookAheads = ['^(?=.{1,253}$)', '^(?:(?=[^/]{1,253}\\/)'];

/** With counted repetitions only, it takes so many steps from each place and no more. */
const isCounted = (source: string): boolean => !/[*+]|\{\d+,\}/.test(source.replaceAll(/\\.|\[(?:\\.|[^\]])*\]/g, ''));

const needsProof = ({ source }: RegularExpression): boolean =>
  !isCounted(source) && !lookAheads.some((start) => source.startsWith(start));

/**
 * An expression that looks at the same text again and again takes minutes for a text that somebody has made for it, and stops all probes
 * meanwhile: 80,000 slashes in a kubeconfig once took 5 s. So no expression is left in the product that is not linear, whatever it is for.
 * The simulator reads what our client and kubectl send it, and configurations.
 */
describe('rule 30: regular expressions take time in proportion to the text', () => {
  it('rule 30: the proof finds the mistakes that were made', async () => {
    for (const source of ['\\/+$', ' ?\\[response_time:[^\\]]*\\]', '^(a+)+$']) {
      expect((await prove(source, '')).status, source).toBe('vulnerable');
    }
  });

  it('rule 30: none is made up at run time, where nothing can be proved of it', () => {
    expect(computed).toEqual([]);
  });

  it('rule 30: the parser finds them', () => {
    expect(literals.length).toBeGreaterThan(80);
  });

  it.each(literals)('rule 30: /$source/$flags', async (expression) => {
    const { source, flags, places } = expression;
    const { status, checker } = await prove(source, flags);
    expect({ status, places }).toEqual({ status: 'safe', places });
    if (needsProof(expression)) expect({ checker, places }).toEqual({ checker: 'automaton', places });
  });
});
