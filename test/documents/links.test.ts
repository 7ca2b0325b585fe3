import { existsSync, globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentAt, documents, root } from './markdown.ts';

/** Describes the problem of a link in a document; undefined if there is none. Sends no request to other hosts. */
const problemOf = (document: string, link: string): string | undefined => {
  if (/^[a-z]+:/i.test(link)) {
    const url = URL.parse(link);
    const isSound = url?.protocol === 'https:' && url.hostname.includes('.') && url.username === '';
    return isSound ? undefined : 'is no https address';
  }
  const [target = '', fragment] = decodeURI(link).split('#');
  const path = target === '' ? document : posix.normalize(posix.join(posix.dirname(document), target));
  if (path.startsWith('..') || target.startsWith('/')) return 'leads out of the repository';
  if (!existsSync(`${root}${path}`)) return `there is no ${path}`;
  if (fragment === undefined) return undefined;
  if (!path.endsWith('.md')) return `${path} has no headings`;
  return documentAt(path).anchors.has(fragment) ? undefined : `${path} has no heading #${fragment}`;
};

describe('links in documents', () => {
  it('are found in all documents', () => {
    expect(documents).toEqual(expect.arrayContaining(['README.md', 'docs/operate.md', 'docs/adr/0021-one-clock.md']));
    expect(documents.flatMap((document) => documentAt(document).links).length).toBeGreaterThan(50);
  });

  it.each(documents)('of %s resolve', (document) => {
    const problems = documentAt(document).links.flatMap((link) => {
      const problem = problemOf(document, link);
      return problem === undefined ? [] : [`${link}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });

  it.each([
    ['docs/operate.md', undefined],
    ['docs/operate.md#brakes', undefined],
    ['docs/operate.md#no-such-heading', 'docs/operate.md has no heading #no-such-heading'],
    ['docs/no-such-file.md', 'there is no docs/no-such-file.md'],
    ['../secret.md', 'leads out of the repository'],
    ['LICENSE#a', 'LICENSE has no headings'],
    ['http://example.com', 'is no https address'],
    ['https://example.com/a?b#c', undefined],
  ])('%s: %s', (link, problem) => {
    expect(problemOf('README.md', link)).toBe(problem);
  });
});

describe('the documents of operators', () => {
  const { files } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { readonly files: readonly string[] };
  const packed = files
    .filter((pattern) => !pattern.startsWith('!'))
    .flatMap((pattern) => globSync(pattern, { cwd: root }));
  const ofOperators = documents.filter((document) => /^(?:README|docs\/(?:runbooks\/)?[\w-]+)\.md$/.test(document));

  it('link to nothing that the npm package lacks', () => {
    const missing = ofOperators.flatMap((document) =>
      documentAt(document)
        .links.filter((link) => !/^(?:[a-z]+:|#)/i.test(link))
        .map((link) => posix.normalize(posix.join(posix.dirname(document), link.replace(/#.*/, ''))))
        .filter((path) => !packed.some((entry) => path === entry || path.startsWith(`${entry}/`)))
        .map((path) => `${document}: ${path}`),
    );
    expect([ofOperators.length > 30, missing]).toEqual([true, []]);
  });
});

describe('documents that files refer to', () => {
  const sources = globSync(
    ['*.md', 'Makefile', '{src,test,bench,tools,docs,examples,deploy,.github}/**/*.{ts,mjs,sh,md,yaml,yml}'],
    { cwd: root, exclude: (path) => path.split('/').includes('node_modules') },
  ).filter((path) => !path.startsWith('test/documents/'));
  /** Documents of the Go program and of Gardener. */
  const theirs = ['docs/deployment/configure.md', 'docs/usage/shoot/shoot_status.md'];

  it('exist', () => {
    const missing = sources.flatMap((path) => {
      const named = readFileSync(`${root}${path}`, 'utf8').match(/(?<![\w/.-])docs\/[\w./-]+\.md\b/g) ?? [];
      return named
        .filter((document) => !theirs.includes(document) && !existsSync(`${root}${document}`))
        .map((document) => `${path}: ${document}`);
    });
    expect([sources.length > 500, missing]).toEqual([true, []]);
  });
});
