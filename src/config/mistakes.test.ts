import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { careConfig } from '../care/config.ts';
import { proberConfig } from '../prober/config/config.ts';
import { weederConfig } from '../weeder/config.ts';
import { formatProblem, hasErrors } from './rules/problem.ts';
import { configCases } from './testing/mistakes.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');

describe.each([
  { name: 'prober', config: proberConfig },
  { name: 'weeder', config: weederConfig },
  { name: 'care', config: careConfig },
])('the configuration of $name', ({ name, config }) => {
  const cases = configCases(read(`fixtures/${name}.txt`));

  it.each(cases)('has all problems of $name found, and settings or an error', ({ text, problems }) => {
    expect(config.check(text).map((problem) => formatProblem('file', problem))).toEqual(
      problems.map((line) => `file:${line}`),
    );
    const loaded = config.load(text, { unknownFields: 'warning' });
    expect(loaded.settings === undefined).toBe(hasErrors(loaded.problems));
  });

  it('has an example without a problem', () => {
    expect(config.check(read(`../../examples/${name}-config.yaml`))).toEqual([]);
  });
});
