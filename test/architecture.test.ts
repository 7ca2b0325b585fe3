import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { check, format } from './architecture/check.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What we wrote: TypeScript everywhere, and the scripts around it. */
function realTree(): ReadonlyMap<string, string> {
  const scripts = ['Makefile', 'bin/dwd', '.ci/run'].filter((path) => existsSync(root + path));
  const sources = ['src', 'simulator', 'test', 'bench', 'examples', 'tools']
    .filter((path) => existsSync(root + path))
    .flatMap(filesBeneath);
  return new Map([...scripts, ...sources].map((path) => [path, readFileSync(root + path, 'utf8')]));
}

function filesBeneath(directory: string): readonly string[] {
  return readdirSync(root + directory, { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBeneath(path);
    return /\.(?:ts|mjs|js|sh)$/.test(entry.name) ? [path] : [];
  });
}

/** Lines of files, by path. */
type Tree = Readonly<Record<string, readonly string[]>>;

function findings(tree: Tree): readonly string[] {
  const files = new Map(Object.entries(tree).map(([path, lines]) => [path, lines.join('\n')]));
  return check(files).map(format);
}

const empty: readonly string[] = [];
const machine = (folder: string) => `/${folder}/checkout/file.ts`;

const planted: readonly { readonly name: string; readonly tree: Tree; readonly found: readonly string[] }[] = [
  {
    name: 'a folder that may not be imported',
    tree: {
      'src/gardener/a.ts': ["import { x } from '../kubernetes/client/index.ts';"],
      'src/kubernetes/client/index.ts': empty,
    },
    found: [
      'src/gardener/a.ts:1: src/gardener may not import src/kubernetes/client (src/kubernetes/client/index.ts) [imports]',
    ],
  },
  {
    name: 'a type import of a folder that may not be imported',
    tree: { 'src/ports/a.ts': ["import type { X } from '../telemetry/index.ts';"], 'src/telemetry/index.ts': empty },
    found: ['src/ports/a.ts:1: src/ports may not import src/telemetry (src/telemetry/index.ts) [imports]'],
  },
  {
    name: 'a re-export of one',
    tree: { 'src/ports/a.ts': ['', "export * from '../telemetry/index.ts';"], 'src/telemetry/index.ts': empty },
    found: ['src/ports/a.ts:2: src/ports may not import src/telemetry (src/telemetry/index.ts) [imports]'],
  },
  {
    name: 'a dynamic import of one',
    tree: { 'src/ports/a.ts': ["const x = await import('../telemetry/index.ts');"], 'src/telemetry/index.ts': empty },
    found: ['src/ports/a.ts:1: src/ports may not import src/telemetry (src/telemetry/index.ts) [imports]'],
  },
  {
    name: 'an import type of one',
    tree: { 'src/ports/a.ts': ["type X = import('../telemetry/index.ts').X;"], 'src/telemetry/index.ts': empty },
    found: ['src/ports/a.ts:1: src/ports may not import src/telemetry (src/telemetry/index.ts) [imports]'],
  },
  {
    name: 'a computed import',
    tree: { 'src/install/a.ts': ['const x = await import(name);'] },
    found: ['src/install/a.ts:1: imports a computed path, which cannot be checked [imports]'],
  },
  {
    name: 'a file outside of src/',
    tree: { 'src/install/a.ts': ["import { x } from '../../test/help.ts';"], 'test/help.ts': empty },
    found: [
      'src/install/a.ts:1: src/install may not import test/help.ts, which is in no folder of the table [imports]',
    ],
  },
  {
    name: 'a folder that the table does not know',
    tree: { 'src/utils/a.ts': empty },
    found: ['src/utils/a.ts:1: is in no folder of the table [house]'],
  },
  {
    name: 'a root barrel',
    tree: { 'src/index.ts': empty },
    found: ['src/index.ts:1: is in no folder of the table [house]'],
  },
  {
    name: 'a package that is not listed',
    tree: { 'src/gardener/a.ts': ["import { z } from 'zod/v4';"], 'src/cli/a.ts': ["import x from '@peculiar/x509';"] },
    found: [
      'src/cli/a.ts:1: src/cli may not import the package @peculiar/x509 [imports]',
      'src/gardener/a.ts:1: src/gardener may not import the package zod [imports]',
    ],
  },
  {
    name: 'a built-in that is not listed',
    tree: {
      'src/gardener/a.ts': ["import { join } from 'node:path';"],
      'src/config/a.ts': ["import { readFileSync } from 'fs';"],
      'src/process/a.ts': ["import { randomInt } from 'node:crypto';"],
    },
    found: [
      'src/config/a.ts:1: src/config may not import node:fs [imports]',
      'src/gardener/a.ts:1: src/gardener may not import node:path [imports]',
      'src/process/a.ts:1: src/process may not import node:crypto [imports]',
    ],
  },
  {
    name: 'a file that does not exist, such as one without its extension',
    tree: { 'src/gardener/a.ts': ["import { b } from './b';"], 'src/gardener/b.ts': empty },
    found: ['src/gardener/a.ts:1: imports src/gardener/b, which does not exist [imports]'],
  },
  {
    name: 'past the door of a folder',
    tree: {
      'src/install/a.ts': ["import { x } from '../kubernetes/client/http.ts';"],
      'src/kubernetes/client/http.ts': empty,
    },
    found: [
      'src/install/a.ts:1: imports src/kubernetes/client/http.ts; the door is src/kubernetes/client/index.ts [door]',
    ],
  },
  {
    name: 'a cycle, closed by a type import',
    tree: {
      'src/gardener/a.ts': ['', "import { b } from './b.ts';"],
      'src/gardener/b.ts': ["import { c } from './c.ts';"],
      'src/gardener/c.ts': ["import type { A } from './a.ts';"],
    },
    found: [
      'src/gardener/a.ts:2: imports itself: src/gardener/a.ts -> src/gardener/b.ts -> src/gardener/c.ts -> src/gardener/a.ts [cycle]',
    ],
  },
  {
    name: 'a file that imports itself',
    tree: { 'test/help.ts': ["import type { A } from './help.ts';"] },
    found: ['test/help.ts:1: imports itself: test/help.ts -> test/help.ts [cycle]'],
  },
  {
    name: 'impurity in the domain',
    tree: {
      'src/gardener/a.ts': [
        'const now = Date.now();',
        'const later = new Date(now);',
        'export function f(at: Date) {}',
        'setTimeout(f, 1);',
        'const roll = Math.random();',
        'const { random } = Math;',
        'const home = process.env.HOME;',
        'await fetch(home);',
        'queueMicrotask(f);',
        "globalThis['performance'].now();",
        'crypto.subtle;',
      ],
    },
    found: [
      'Date.now',
      'new Date(…)',
      'type Date',
      'setTimeout',
      'Math.random',
      'Math',
      'process.env',
      'fetch',
      'queueMicrotask',
      'performance.now',
      'crypto.subtle',
    ].map(
      (use, index) =>
        `src/gardener/a.ts:${index + 1}: uses ${use}: this file is pure; take the value as an argument [pure]`,
    ),
  },
  {
    name: 'time past the clock',
    tree: {
      'src/kubernetes/client/a.ts': [
        'setTimeout(f, 1);',
        'globalThis.setInterval(f, 1);',
        'const now = Date.now();',
        'const date = new Date();',
        'const signal = AbortSignal.timeout(1);',
        'const started = performance.now();',
        'const clock = Date;',
        'const everything = globalThis;',
        'setImmediate(f);',
      ],
    },
    found: [
      'setTimeout',
      'setInterval',
      'Date.now',
      'new Date()',
      'AbortSignal.timeout',
      'performance.now',
      'Date',
      'globalThis',
      'setImmediate',
    ].map(
      (use, index) => `src/kubernetes/client/a.ts:${index + 1}: uses ${use}: time goes through the Clock port [clock]`,
    ),
  },
  {
    name: 'timers imported where built-ins are free',
    tree: { 'src/main.ts': ["import { setTimeout as sleep } from 'node:timers/promises';"] },
    found: ['src/main.ts:1: uses node:timers/promises: time goes through the Clock port [clock]'],
  },
  {
    name: 'random numbers past the port',
    tree: { 'simulator/world/a.ts': ["import { randomUUID } from 'node:crypto';", 'const roll = Math.random();'] },
    found: [
      'simulator/world/a.ts:1: uses randomUUID: random numbers go through the Random port [random]',
      'simulator/world/a.ts:2: uses Math.random: random numbers go through the Random port [random]',
    ],
  },
  {
    name: 'default exports and enums',
    tree: {
      'src/gardener/a.ts': ['export default 1;'],
      'src/gardener/b.ts': ['export default function f() {}'],
      'src/gardener/c.ts': ["export { a as default } from './d.ts';"],
      'src/gardener/d.ts': ['export const enum Colour { Red }'],
      'bench/a.ts': ['export = 1;'],
    },
    found: [
      'bench/a.ts:1: uses export =: not here [style]',
      'src/gardener/a.ts:1: uses export default: not here [style]',
      'src/gardener/b.ts:1: uses export default: not here [style]',
      'src/gardener/c.ts:1: uses export default: not here [style]',
      'src/gardener/d.ts:1: uses enum: not here [style]',
    ],
  },
  {
    name: 'a path of one machine, in any file',
    tree: { 'tools/a.sh': ['', `cat ${machine('work')}`], 'simulator/world/a.ts': [`// ${machine('root')}`] },
    found: [
      `simulator/world/a.ts:1: contains a path of one machine: // ${machine('root')} [machine]`,
      `tools/a.sh:2: contains a path of one machine: cat ${machine('work')} [machine]`,
    ],
  },
];

const allowed: readonly { readonly name: string; readonly tree: Tree }[] = [
  {
    name: 'the adapters',
    tree: {
      'src/process/clock.ts': [
        "import { setTimeout } from 'node:timers/promises';",
        'export const now = () => Date.now();',
      ],
      'src/process/random.ts': [
        "import { randomUUID } from 'node:crypto';",
        'export const roll = () => Math.random();',
      ],
      'simulator/time/clock.ts': ['setImmediate(next);'],
    },
  },
  {
    name: 'pure uses of impure names',
    tree: {
      'src/gardener/a.ts': [
        "const at = Date.parse('2026-11-21T00:00:00Z') + Date.UTC(2026, 10) + Math.floor(1.5);",
        'const { process: handle } = queue;',
        'export interface Queue { process(item: string): void; performance: number; run(fetch: number): void }',
        'queue.fetch({ Date: 1, process: handle }).crypto.setTimeout;',
        'switch (at) { default: break; }',
      ],
      'src/kubernetes/client/a.ts': [
        'const text = new Date(0).toISOString();',
        'let timer: ReturnType<typeof setTimeout>;',
        'const stopped = AbortSignal.any([a, b]).aborted && x instanceof Date;',
        'socket.setTimeout(0);',
      ],
    },
  },
];

describe('the architecture checker', () => {
  it.each(planted)('finds $name', ({ tree, found }) => {
    expect(findings(tree)).toEqual(found);
  });

  it.each(allowed)('allows $name', ({ tree }) => {
    expect(findings(tree)).toEqual([]);
  });
});

describe('this repository', () => {
  it('keeps to the architecture', { timeout: 120_000 }, () => {
    expect(check(realTree()).map(format)).toEqual([]);
  });
});
