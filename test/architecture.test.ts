import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { check, format } from './architecture/check.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What we wrote: TypeScript everywhere, and the scripts around it. */
function realTree(): ReadonlyMap<string, string> {
  const scripts = ['Makefile', 'bin/dwd', '.ci/run'].filter((path) => existsSync(root + path));
  const sources = ['src', 'test', 'bench', 'examples', 'tools']
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
    tree: { 'src/domain/a.ts': ["import { x } from '../kube/index.ts';"], 'src/kube/index.ts': empty },
    found: ['src/domain/a.ts:1: domain may not import kube (src/kube/index.ts) [imports]'],
  },
  {
    name: 'a type import of a folder that may not be imported',
    tree: { 'src/ports/a.ts': ["import type { X } from '../sim/index.ts';"], 'src/sim/index.ts': empty },
    found: ['src/ports/a.ts:1: ports may not import sim (src/sim/index.ts) [imports]'],
  },
  {
    name: 'a re-export of one',
    tree: { 'src/ports/a.ts': ['', "export * from '../sim/index.ts';"], 'src/sim/index.ts': empty },
    found: ['src/ports/a.ts:2: ports may not import sim (src/sim/index.ts) [imports]'],
  },
  {
    name: 'a dynamic import of one',
    tree: { 'src/ports/a.ts': ["const x = await import('../sim/index.ts');"], 'src/sim/index.ts': empty },
    found: ['src/ports/a.ts:1: ports may not import sim (src/sim/index.ts) [imports]'],
  },
  {
    name: 'an import type of one',
    tree: { 'src/ports/a.ts': ["type X = import('../sim/index.ts').X;"], 'src/sim/index.ts': empty },
    found: ['src/ports/a.ts:1: ports may not import sim (src/sim/index.ts) [imports]'],
  },
  {
    name: 'a computed import',
    tree: { 'src/app/a.ts': ['const x = await import(name);'] },
    found: ['src/app/a.ts:1: imports a computed path, which cannot be checked [imports]'],
  },
  {
    name: 'one controller importing another',
    tree: {
      'src/controllers/care/act.ts': ["import { x } from '../prober/index.ts';"],
      'src/controllers/prober/index.ts': empty,
    },
    found: [
      'src/controllers/care/act.ts:1: controllers/care may not import controllers/prober (src/controllers/prober/index.ts) [imports]',
    ],
  },
  {
    name: 'production code importing src/testing',
    tree: { 'src/main.ts': ["import { x } from './testing/index.ts';"], 'src/testing/index.ts': empty },
    found: ['src/main.ts:1: main.ts may not import testing (src/testing/index.ts) [imports]'],
  },
  {
    name: 'a file outside of src/',
    tree: { 'src/app/a.ts': ["import { x } from '../../test/help.ts';"], 'test/help.ts': empty },
    found: ['src/app/a.ts:1: app may not import test/help.ts, which is in no folder of the table [imports]'],
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
    tree: { 'src/domain/a.ts': ["import { z } from 'zod/v4';"], 'src/cli/a.ts': ["import x from '@peculiar/x509';"] },
    found: [
      'src/cli/a.ts:1: cli may not import the package @peculiar/x509 [imports]',
      'src/domain/a.ts:1: domain may not import the package zod [imports]',
    ],
  },
  {
    name: 'a built-in that is not listed',
    tree: {
      'src/domain/a.ts': ["import { join } from 'node:path';"],
      'src/config/a.ts': ["import { readFileSync } from 'fs';"],
      'src/runtime/a.ts': ["import { randomInt } from 'node:crypto';"],
    },
    found: [
      'src/config/a.ts:1: config may not import node:fs [imports]',
      'src/domain/a.ts:1: domain may not import node:path [imports]',
      'src/runtime/a.ts:1: runtime may not import node:crypto [imports]',
    ],
  },
  {
    name: 'a file that does not exist, such as one without its extension',
    tree: { 'src/domain/a.ts': ["import { b } from './b';"], 'src/domain/b.ts': empty },
    found: ['src/domain/a.ts:1: imports src/domain/b, which does not exist [imports]'],
  },
  {
    name: 'past the door of a folder',
    tree: { 'src/app/a.ts': ["import { x } from '../kube/http.ts';"], 'src/kube/http.ts': empty },
    found: ['src/app/a.ts:1: imports src/kube/http.ts; the door is src/kube/index.ts [door]'],
  },
  {
    name: 'a test past the door of another folder',
    tree: { 'src/kube/a.test.ts': ["import { x } from '../testing/x.ts';"], 'src/testing/x.ts': empty },
    found: ['src/kube/a.test.ts:1: imports src/testing/x.ts; the door is src/testing/index.ts [door]'],
  },
  {
    name: 'a cycle, closed by a type import',
    tree: {
      'src/domain/a.ts': ['', "import { b } from './b.ts';"],
      'src/domain/b.ts': ["import { c } from './c.ts';"],
      'src/domain/c.ts': ["import type { A } from './a.ts';"],
    },
    found: [
      'src/domain/a.ts:2: imports itself: src/domain/a.ts -> src/domain/b.ts -> src/domain/c.ts -> src/domain/a.ts [cycle]',
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
      'src/domain/a.ts': [
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
        `src/domain/a.ts:${index + 1}: uses ${use}: this file is pure; take the value as an argument [pure]`,
    ),
  },
  {
    name: 'impurity in the pure stages of a controller',
    tree: {
      'src/controllers/weeder/decide.ts': ['const now = performance.now();'],
      'src/controllers/prober/flow.ts': ['setInterval(f, 1);'],
      'src/controllers/care/lifecycle.ts': ['const text = new Date(0).toISOString();'],
    },
    found: [
      'src/controllers/care/lifecycle.ts:1: uses new Date(…): this file is pure; take the value as an argument [pure]',
      'src/controllers/prober/flow.ts:1: uses setInterval: this file is pure; take the value as an argument [pure]',
      'src/controllers/weeder/decide.ts:1: uses performance.now: this file is pure; take the value as an argument [pure]',
    ],
  },
  {
    name: 'time past the clock',
    tree: {
      'src/kube/a.ts': [
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
    ].map((use, index) => `src/kube/a.ts:${index + 1}: uses ${use}: time goes through the Clock port [clock]`),
  },
  {
    name: 'timers imported where built-ins are free',
    tree: { 'src/main.ts': ["import { setTimeout as sleep } from 'node:timers/promises';"] },
    found: ['src/main.ts:1: uses node:timers/promises: time goes through the Clock port [clock]'],
  },
  {
    name: 'random numbers past the port',
    tree: { 'src/sim/a.ts': ["import { randomUUID } from 'node:crypto';", 'const roll = Math.random();'] },
    found: [
      'src/sim/a.ts:1: uses randomUUID: random numbers go through the Random port [random]',
      'src/sim/a.ts:2: uses Math.random: random numbers go through the Random port [random]',
    ],
  },
  {
    name: 'process outside of main.ts',
    tree: {
      'src/cli/a.ts': ["if (process.argv.includes('x')) {}"],
      'src/testing/a.ts': ["import { env } from 'node:process';"],
    },
    found: [
      'src/cli/a.ts:1: uses process.argv: only src/main.ts touches it [process]',
      'src/testing/a.ts:1: uses node:process: only src/main.ts touches it [process]',
    ],
  },
  {
    name: 'default exports and enums',
    tree: {
      'src/domain/a.ts': ['export default 1;'],
      'src/domain/b.ts': ['export default function f() {}'],
      'src/domain/c.ts': ["export { a as default } from './d.ts';"],
      'src/domain/d.ts': ['export const enum Colour { Red }'],
      'bench/a.ts': ['export = 1;'],
    },
    found: [
      'bench/a.ts:1: uses export =: not here [style]',
      'src/domain/a.ts:1: uses export default: not here [style]',
      'src/domain/b.ts:1: uses export default: not here [style]',
      'src/domain/c.ts:1: uses export default: not here [style]',
      'src/domain/d.ts:1: uses enum: not here [style]',
    ],
  },
  {
    name: 'a path of one machine, in any file',
    tree: { 'tools/a.sh': ['', `cat ${machine('work')}`], 'src/sim/a.ts': [`// ${machine('root')}`] },
    found: [
      `src/sim/a.ts:1: contains a path of one machine: // ${machine('root')} [machine]`,
      `tools/a.sh:2: contains a path of one machine: cat ${machine('work')} [machine]`,
    ],
  },
];

const allowed: readonly { readonly name: string; readonly tree: Tree }[] = [
  {
    name: 'what the table lists',
    tree: {
      'src/config/index.ts': ["import { z } from 'zod';", "import type { Settings } from '../domain/index.ts';"],
      'src/domain/index.ts': ["export * from './a.ts';"],
      'src/domain/a.ts': empty,
      'src/main.ts': ["import { run } from './cli/index.ts';", 'process.exitCode = await run(process.argv);'],
      'src/cli/index.ts': ["import { Command } from 'commander';", "import { x } from '../healthcheck/index.ts';"],
      'src/healthcheck/index.ts': empty,
    },
  },
  {
    name: 'the adapters',
    tree: {
      'src/runtime/clock.ts': [
        "import { setTimeout } from 'node:timers/promises';",
        'export const now = () => Date.now();',
      ],
      'src/runtime/random.ts': [
        "import { randomUUID } from 'node:crypto';",
        'export const roll = () => Math.random();',
      ],
      'src/sim/clock.ts': ['setImmediate(next);'],
    },
  },
  {
    name: 'pure uses of impure names',
    tree: {
      'src/domain/a.ts': [
        "const at = Date.parse('2026-11-21T00:00:00Z') + Date.UTC(2026, 10) + Math.floor(1.5);",
        'const { process: handle } = queue;',
        'export interface Queue { process(item: string): void; performance: number; run(fetch: number): void }',
        'queue.fetch({ Date: 1, process: handle }).crypto.setTimeout;',
        'switch (at) { default: break; }',
      ],
      'src/kube/a.ts': [
        'const text = new Date(0).toISOString();',
        'let timer: ReturnType<typeof setTimeout>;',
        'const stopped = AbortSignal.any([a, b]).aborted && x instanceof Date;',
        'socket.setTimeout(0);',
      ],
    },
  },
  {
    name: 'tests: doubles, real time, and the inside of their own folder',
    tree: {
      'src/kube/watch.test.ts': [
        "import { it } from 'vitest';",
        "import fc from 'fast-check';",
        "import { fakeClock } from '../testing/index.ts';",
        "import { watch } from './watch.ts';",
        'const now = Date.now();',
      ],
      'src/kube/watch.ts': empty,
      'src/testing/index.ts': empty,
      'src/config/load.test.ts': ["import { readFileSync } from 'node:fs';"],
      'test/e2e/a.test.ts': ["import { watch } from '../../src/kube/watch.ts';", 'process.env.HOME;'],
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
