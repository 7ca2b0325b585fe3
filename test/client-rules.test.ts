import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const document = 'docs/dev/client-rules.md';

/** Rules without a test. This list may only get shorter. */
const open: readonly string[] = [];

const expected = [
  ...['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '11a', '12', '13', '14', '15', '16', '17', '18'],
  ...['19', '20', '21', '22', '23', '24', '25', '25a', '26', '27', '28', '29', '29a', '29b', '30', '31'],
];

/** Matches a string that begins like the title of a rule's test. A title after `skip` or `todo` does not count, because its test does not run. */
const title = /(?<skipped>\.(?:skip|todo|skipIf|runIf)\b[^'"`]*)?(?<quote>['"`])rules? (?<numbers>\d[\da-z, -]*):/g;

const numbersIn = (text: string): readonly string[] =>
  text.split(',').flatMap((part) => {
    const [first = '', last] = part.trim().split('-');
    if (last === undefined) return [first];
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => String(Number(first) + index));
  });

/** Rules named by the titles in a test's source. */
const rulesTestedBy = (source: string): ReadonlySet<string> =>
  new Set(
    Array.from(source.matchAll(title)).flatMap(({ groups }) =>
      groups?.skipped === undefined ? numbersIn(groups?.numbers ?? '') : [],
    ),
  );

const testFiles = globSync(
  ['src/**/*.test.ts', 'simulator/**/*.test.ts', 'test/contract/cases/*.ts', 'test/**/*.test.ts'],
  { cwd: root },
)
  .filter((file) => file !== 'test/client-rules.test.ts')
  .sort();

const filesByRule = new Map<string, string[]>();
for (const file of testFiles) {
  for (const rule of rulesTestedBy(readFileSync(`${root}${file}`, 'utf8'))) {
    filesByRule.set(rule, [...(filesByRule.get(rule) ?? []), file]);
  }
}

const row = /^\| (?<rule>\d+[ab]?) \| [^|]+ \| (?<tests>[^|\n]*) \|$/gm;
const text = readFileSync(`${root}${document}`, 'utf8');
const rules = Array.from(text.matchAll(row)).map(({ groups }) => ({
  rule: groups?.rule ?? '',
  tests: groups?.tests ?? '',
}));

describe('the rules of the Kubernetes client', () => {
  it('are listed in order, each once', () => {
    expect(rules.map(({ rule }) => rule)).toEqual(expected);
  });

  it.each(expected.filter((rule) => !open.includes(rule)))('rule %s has tests', (rule) => {
    expect(filesByRule.get(rule) ?? [], `no title of a test begins with "rule ${rule}:"`).not.toEqual([]);
  });

  it('all others are listed as open', () => {
    expect(expected.filter((rule) => !filesByRule.has(rule))).toEqual(open);
  });

  it('are the only rules that titles of tests name', () => {
    const unknown = [...filesByRule].filter(([rule]) => !expected.includes(rule));
    expect(unknown.map(([rule, files]) => `rule ${rule} in ${files.join(', ')}`)).toEqual([]);
  });

  it.each(rules)(`rule $rule is listed in ${document} with files that test it`, ({ rule, tests }) => {
    const files = filesByRule.get(rule);
    if (files === undefined) expect(tests).toBe('open');
    else expect(tests, `rule ${rule} is tested by ${files.join(', ')}`).toMatch(/^`[^`]+`(?:, `[^`]+`)*$/);
    const listed = Array.from(tests.matchAll(/`(?<file>[^`]+)`/g)).map(({ groups }) => groups?.file ?? '');
    expect(listed.filter((file) => files?.includes(file) !== true)).toEqual([]);
  });
});

describe('the search for titles', () => {
  it.each([
    [`it('rule 6: x'`, ['6']],
    ['it("rule 25a: x"', ['25a']],
    ['it.each([1, 2])(`rule 7: x`', ['7']],
    [`it('rules 12-15: x'`, ['12', '13', '14', '15']],
    [`it('rule 26, 28: x'`, ['26', '28']],
    [`{ title: 'rule 13: x' }`, ['13']],
    [`it.skip('rule 6: x'`, []],
    [`describe.todo('rule 6: x'`, []],
    [`it.skipIf(isCi)('rule 6: x'`, []],
    [`it('follows rule 6: x'`, []],
    [`it('rule x: y'`, []],
  ])('%s: %j', (source, found) => {
    expect([...rulesTestedBy(source)]).toEqual(found);
  });
});
