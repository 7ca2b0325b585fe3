import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const declaration = /^export (?:declare )?(?:abstract )?(?:type|interface|class) (\w+)/gmu;

/** Names that more than one exported type has, with the files that declare them. */
const shared = (texts: ReadonlyMap<string, string>): readonly string[] => {
  const files = new Map<string, string[]>();
  for (const [file, text] of texts) {
    for (const [, name = ''] of text.matchAll(declaration)) files.set(name, [...(files.get(name) ?? []), file]);
  }
  return [...files].flatMap(([name, where]) => (where.length > 1 ? [`${name}: ${where.join(', ')}`] : []));
};

describe('exported types: one word means one thing', () => {
  it('the search finds two types of the same name', () => {
    const texts = new Map([
      ['a.ts', 'export interface Same {}\nexport type Other = 1;'],
      ['b.ts', 'export abstract class Same {}\ninterface Other {}'],
    ]);
    expect(shared(texts)).toEqual(['Same: a.ts, b.ts']);
  });

  it('no two share a name', () => {
    const paths = globSync('{src,simulator,bench,test,tools}/**/*.ts', { cwd: root, exclude: ['**/node_modules/**'] });
    expect(paths.length).toBeGreaterThan(1000);
    expect(shared(new Map(paths.map((path) => [path, readFileSync(`${root}/${path}`, 'utf8')])))).toEqual([]);
  });
});
