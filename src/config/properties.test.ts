import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proberConfig } from '../prober/config/config.ts';
import { type ConfigProblem, hasErrors } from './rules/problem.ts';
import { configCases } from './testing/mistakes.ts';
import { gardenletConfig } from './testing/texts.ts';

const cases = configCases(readFileSync(fileURLToPath(new URL('fixtures/prober.txt', import.meta.url)), 'utf8'));

const gardenlets = gardenletConfig('prober');
const running = { unknownFields: 'warning' } as const;

describe('any text', () => {
  const words = fc.constantFrom(
    ...'kubeConfigSecretName dependentResourceInfos ref scaleUp level data 0 1s &a *a <<'.split(' '),
    ...Array.from(`{}[],"'|>!%#?\t\0`),
    ...[': ', ':\n', '\n', ' ', '  ', '- ', '---\n', 'kind: ConfigMap'],
  );
  const soup = fc.array(words, { maxLength: 60 }).map((parts) => parts.join(''));
  const damaged = fc
    .tuple(fc.constantFrom(gardenlets, ...cases.map(({ text }) => text)), fc.nat(), fc.nat({ max: 20 }), soup)
    .map(([text, at, removed, added]) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + added + text.slice(start + removed);
    });
  const anyText = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), soup, damaged);

  const standsIn = (text: string, { line, column, path, message }: ConfigProblem): boolean => {
    const lines = text.replace(/^\ufeff/, '').split('\n');
    const inFile = line >= 1 && line <= lines.length && column >= 1 && column <= (lines[line - 1]?.length ?? 0) + 2;
    return inFile && path !== '' && message !== '' && !message.includes('\n');
  };

  it('never throws, and every problem has a position in the file', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { settings, problems } = proberConfig.load(text, running);
        expect(settings === undefined).toBe(hasErrors(problems));
        for (const problem of [...problems, ...proberConfig.check(text)]) {
          if (!standsIn(text, problem)) throw new Error(JSON.stringify(problem));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['[', ']'],
    ['{a: ', '}'],
    ['- ', ''],
    ['? ', ''],
    ['&a ', ''],
    ['!!map ', ''],
  ])('is refused without a crash where it nests %j up to 100,000 levels deep', (open, close) => {
    for (const depth of [100, 10_000, 100_000]) {
      const text = `${open.repeat(depth)}x${close.repeat(depth)}`;
      const { settings, problems } = proberConfig.load(text, running);
      expect(settings).toBeUndefined();
      expect(hasErrors(problems)).toBe(true);
      const inside = proberConfig.load(`${gardenlets}more: ${text}\n`, running);
      expect(inside.problems.length).toBeGreaterThan(0);
    }
  });
});
