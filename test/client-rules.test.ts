import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

/** Matches the rules at the beginning of a title, but not after `skip` or `todo`, because such a test does not run. */
const title = /(?<skipped>\.(?:skip|todo|skipIf|runIf)\b[^'"`]*)?['"`]rules? (?<numbers>\d[\da-z, ]*):/g;

const testedBy = (source: string): readonly string[] =>
  Array.from(source.matchAll(title)).flatMap(({ groups = {} }) =>
    groups.skipped === undefined ? (groups.numbers ?? '').split(',').map((number) => number.trim()) : [],
  );

it('each rule of the Kubernetes client has a test, and titles name no other', () => {
  const rules = Array.from(read('docs/dev/client-rules.md').matchAll(/^\| (\d+[ab]?) \| /gm), ([, rule = '']) => rule);
  expect(rules.length).toBeGreaterThan(30);
  const files = globSync(['{src,simulator,test}/**/*.test.ts', 'test/contract/cases/*.ts'], { cwd: root });
  const tested = files.filter((file) => file !== 'test/client-rules.test.ts').flatMap((file) => testedBy(read(file)));
  expect([...new Set(tested)].toSorted()).toEqual(rules.toSorted());
});
