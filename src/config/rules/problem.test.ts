import { expect, it } from 'vitest';
import { type Path, formatPath } from './problem.ts';

it.each<{ readonly path: Path; readonly text: string }>([
  { path: [], text: '.' },
  { path: ['a'], text: 'a' },
  { path: ['a', 0, 'b-c', 12], text: 'a[0].b-c[12]' },
  { path: [3, 'x'], text: '[3].x' },
  { path: ['a', 'b.c/d', ''], text: 'a["b.c/d"][""]' },
  { path: ['k'.repeat(1_000_000), 'b'], text: `["${'k'.repeat(100)}..."].b` },
])('a path is printed in the notation of editors, with huge keys cut short: $text', ({ path, text }) => {
  expect(formatPath(path)).toBe(text);
});
