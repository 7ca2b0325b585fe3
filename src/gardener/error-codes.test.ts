import { expect, it } from 'vitest';
import { determineErrorCodes } from './error-codes.ts';

const coded = (message: string, codes: unknown, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), { codes });

const known = {
  ERR_INFRA_UNAUTHORIZED: (text: string) => /not authorized/i.test(text),
  ERR_INFRA_QUOTA_EXCEEDED: (text: string) => /quota/i.test(text),
  ERR_INFRA_DEPENDENCIES: (text: string) => /quota|in use/i.test(text),
};

it.each([
  [
    'a text with several matches, sorted',
    'quota; not authorized',
    ['ERR_INFRA_DEPENDENCIES', 'ERR_INFRA_QUOTA_EXCEEDED', 'ERR_INFRA_UNAUTHORIZED'],
  ],
  ['an error with codes', coded('x', ['ERR_PROBLEMATIC_WEBHOOK']), ['ERR_PROBLEMATIC_WEBHOOK']],
  [
    'codes and a match, each once',
    coded('subnet in use', ['ERR_PROBLEMATIC_WEBHOOK', 'ERR_INFRA_DEPENDENCIES']),
    ['ERR_INFRA_DEPENDENCIES', 'ERR_PROBLEMATIC_WEBHOOK'],
  ],
  ['a cause with codes', new Error('x', { cause: coded('y', ['ERR_A']) }), ['ERR_A']],
  ['codes before those of the cause', coded('x', ['ERR_A'], coded('y', ['ERR_B'])), ['ERR_A']],
  ['the text of a cause, which does not count', new Error('x', { cause: new Error('quota') }), []],
  ['codes that are not strings', coded('x', [1, null, 'ERR_A']), ['ERR_A']],
  ['codes that are not a list', coded('x', 'ERR_A'), []],
])('the error codes of %s', (_, error, codes) => {
  expect(determineErrorCodes(error, known)).toEqual(codes);
});
