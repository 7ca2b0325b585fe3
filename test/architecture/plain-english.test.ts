import { Linter } from 'eslint';
import { describe, expect, it } from 'vitest';
// @ts-expect-error It is plain JavaScript.
import { language } from '../../tools/plain-english.mjs';

const problemsIn = (code: string): readonly string[] =>
  new Linter().verify(code, [language]).map(({ message }) => message);

const subject = 'Begin the sentence with its subject, a noun or a verb.';
const unnamed = 'Name the subject: neither "whoever" nor "of which".';
const speaking = 'Programs and objects report, show, return or request; they do not say, tell or ask.';

describe('the language of comments and titles', () => {
  it.each([
    ['a relative clause in place of a subject', '/** What a probe has read. */', subject],
    ['a genitive in place of a subject', '/** Of the previous run. */', subject],
    ['a preposition with "which"', '/** In which every kubelet renews. */', subject],
    ['a later sentence without a subject', '/** The memory. What it keeps is small. */', subject],
    ['"whoever"', '// A note for whoever reads this.', unnamed],
    ['"of which"', '// Three leases, of which one has expired.', unnamed],
    ['an object that tells', '/** The lease tells its age. */', speaking],
    ['a sentence over two lines', '// The answer\n// is asked for twice.', speaking],
    ['the title of a test', "it('says why', () => {});", speaking],
    ['the title of a table', "it.each([])('What %s is', () => {});", subject],
  ])('rejects %s', (_, code, problem) => {
    expect(problemsIn(code)).toEqual([problem]);
  });

  it.each([
    '/** The leases of one shoot, which kubelets renew. */',
    '// Returns what a probe has read.',
    '// @ts-expect-error What it imports has no types.',
    "it('reports why a pod is skipped', () => {});",
    "log('What happened');",
  ])('accepts %s', (code) => {
    expect(problemsIn(code)).toEqual([]);
  });
});
