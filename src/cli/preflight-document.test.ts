import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { codes } from '../preflight/index.ts';

const document = readFileSync(new URL('../../docs/preflight.md', import.meta.url), 'utf8');

it('has a paragraph for each code, and for no other', () => {
  const headings = Array.from(document.matchAll(/^### (.*)$/gm), ([, heading]) => heading);
  expect(headings.toSorted()).toEqual(Object.keys(codes).toSorted());
});
