import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proberConfig } from '../prober/config/config.ts';
import { configCases } from './testing/mistakes.ts';
import { minimal } from './testing/texts.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');

const cases = configCases(read('fixtures/prober.txt'));

describe('proberConfig.check', () => {
  it('refuses more than 256 KiB', () => {
    const text = `${minimal}#${'\u20ac'.repeat(100_000)}`;
    expect(proberConfig.check(text)).toMatchObject([{ line: 1, column: 1, path: '.', severity: 'error' }]);
  });

  it('does not count a byte order mark as a column', () => {
    expect(proberConfig.check(`\ufeff${minimal}`)).toMatchObject([{ line: 1, column: 1 }]);
    expect(proberConfig.check(`\ufeff  typo: 1`)).toContainEqual(expect.objectContaining({ path: 'typo', column: 3 }));
  });

  it('shows a problem at the end of a ConfigMap in its last line, although the file has no final line feed', () => {
    const text = 'kind: ConfigMap\ndata:\n  a: |\n    kubeConfigSecretName: [';
    expect(proberConfig.check(text)).toMatchObject([{ line: 4, column: 28, path: 'data.a' }]);
  });

  it('finds the same problems in a ConfigMap as in the file, at their positions in the ConfigMap', () => {
    const configs = cases.filter(({ text }) => !text.includes('kind: ConfigMap'));
    const indent = fc.integer({ min: 1, max: 8 });
    fc.assert(
      fc.property(fc.constantFrom(...configs), indent, fc.boolean(), ({ text }, spaces, carriageReturns) => {
        fc.pre(text.trim() !== '' && !text.includes('\t'));
        const indented = text.replace(/^(?=.)/gm, ' '.repeat(spaces));
        const manifest = `kind: ConfigMap\ndata:\n config: |\n${indented.replace(/^/gm, '  ')}`;
        const embedded = proberConfig.check(carriageReturns ? manifest.replaceAll('\n', '\r\n') : manifest);
        const expected = proberConfig.check(text).map((problem) => ({
          ...problem,
          line: problem.line + 3,
          column: problem.column + spaces + 2,
          path: problem.path === '.' ? 'data.config' : `data.config.${problem.path}`.replace('.[', '['),
        }));
        expect(embedded).toEqual(expected);
      }),
    );
  });
});
