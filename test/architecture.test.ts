import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { afterAll, describe, expect, it } from 'vitest';
// @ts-expect-error It is plain JavaScript.
import { purity } from '../tools/purity.mjs';

// dependency-cruiser restricts imports, ESLint the use of time, randomness, `process` and I/O. Planted mistakes prove that both
// configurations find violations.

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'dwd-architecture-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface CruiseResult {
  readonly summary: {
    readonly violations: readonly {
      readonly rule: { readonly name: string };
      readonly from: string;
      readonly to: string;
    }[];
    readonly totalCruised: number;
  };
}

/** Violations that dependency-cruiser finds in these folders of a directory, each as `rule: from -> to`. */
const cruise = (directory: string, folders: readonly string[]) => {
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const args = [program, '--config', join(root, 'tools/dependency-cruiser.mjs'), '--output-type', 'json', ...folders];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (stdout === '') throw new Error(stderr);
  const { violations, totalCruised } = (JSON.parse(stdout) as CruiseResult).summary;
  return { totalCruised, found: violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`) };
};

/** Contents of files by path, each with the violations that must be found in it. */
const planted: Readonly<Record<string, readonly [text: string, ...found: readonly string[]]>> = {
  'src/gardener/above.ts': [
    "import { x } from '../kubernetes/client/index.ts';",
    'src/gardener: src/gardener/above.ts -> src/kubernetes/client/index.ts',
  ],
  'src/ports/type-import.ts': [
    "import type { X } from '../telemetry/index.ts';",
    'src/ports: src/ports/type-import.ts -> src/telemetry/index.ts',
  ],
  'src/process/past-the-door.ts': [
    "import { x } from '../telemetry/inside.ts';",
    'src/process: src/process/past-the-door.ts -> src/telemetry/inside.ts',
  ],
  'src/weeder/builtin.ts': ["import { readFileSync } from 'node:fs';", 'src/weeder: src/weeder/builtin.ts -> fs'],
  'src/weeder/package.ts': [
    "import { parse } from 'yaml';",
    'src/weeder: src/weeder/package.ts -> node_modules/yaml/index.js',
  ],
  'src/weeder/typo.ts': [
    "import { x } from './nowhere.ts';",
    'missing: src/weeder/typo.ts -> ./nowhere.ts',
    'src/weeder: src/weeder/typo.ts -> ./nowhere.ts',
  ],
  'src/weeder/test-code.ts': [
    "import { x } from './some.test.ts';",
    'shipped: src/weeder/test-code.ts -> src/weeder/some.test.ts',
  ],
  'src/prober/simulated.ts': [
    "import { x } from '../../simulator/world/index.ts';",
    'src/prober: src/prober/simulated.ts -> simulator/world/index.ts',
  ],
  'src/page/browser/builtin.tsx': [
    "import { readFileSync } from 'node:fs';",
    'src/page/browser: src/page/browser/builtin.tsx -> fs',
  ],
  'src/page/feed/checked.ts': [
    "import { x } from '../../status/state/schema.ts';",
    'page: src/page/feed/checked.ts -> src/status/state/schema.ts',
  ],
  'src/cellar/a.ts': ["import { x } from '../ports/clock.ts';", 'room: src/cellar/a.ts -> src/ports/clock.ts'],
  'src/care/chicken.ts': [
    "export { egg } from './egg.ts'; export const chicken = 1;",
    'cycle: src/care/chicken.ts -> src/care/egg.ts',
  ],
  'src/care/egg.ts': ["export type { chicken } from './chicken.ts'; export const egg = 1;"],
  'bench/a.ts': ["import { x } from '../test/doubles/x.ts';", 'bench: bench/a.ts -> test/doubles/x.ts'],
  // Files without violations.
  'src/process/clock.ts': ["import { setTimeout } from 'node:timers/promises';"],
  'src/prober/right.ts': ["import { x } from '../ports/clock.ts'; import { y } from '../process/index.ts';"],
  'src/page/browser/right.tsx': ["import type { X } from '../../status/state/schema.ts';"],
  'src/weeder/right.ts': ["import { z } from 'zod';"],
  'src/weeder/some.test.ts': ["import { x } from '../../test/doubles/x.ts'; import { readFileSync } from 'node:fs';"],
  'bench/b.ts': ["import { x } from '../test/envtest/x.ts';"],
};
const doors = [
  ...['kubernetes/client', 'telemetry', 'process'].map((room) => `src/${room}/index.ts`),
  ...['src/status/state/schema.ts', 'src/telemetry/inside.ts', 'src/ports/clock.ts', 'simulator/world/index.ts'],
  ...['test/doubles/x.ts', 'test/envtest/x.ts', 'node_modules/yaml/index.js', 'node_modules/zod/index.js'],
];

describe('the import rules', () => {
  it('find the planted mistakes, and nothing else', { timeout: 120_000 }, () => {
    const files = [
      ...doors.map((path) => [path, ''] as const),
      ...Object.entries(planted).map(([path, [text]]) => [path, text] as const),
    ];
    for (const [path, text] of [...files, ['tsconfig.json', '{}'] as const]) {
      mkdirSync(dirname(join(scratch, path)), { recursive: true });
      writeFileSync(join(scratch, path), text);
    }
    const expected = Object.values(planted).flatMap(([, ...found]) => found);
    expect(cruise(scratch, ['src', 'simulator', 'bench', 'test']).found.toSorted()).toEqual(expected.toSorted());
  });

  it('hold in this repository', { timeout: 180_000 }, () => {
    const { totalCruised, found } = cruise(root, ['src', 'simulator', 'bench', 'test', 'tools', 'examples']);
    expect([totalCruised > 500, found]).toEqual([true, []]);
  });
});

const eslint = new ESLint({
  cwd: root,
  overrideConfigFile: true,
  overrideConfig: [
    { files: ['**/*.ts'], languageOptions: { parser: tseslint.parser } },
    ...(purity as () => object[])(),
  ] as NonNullable<ConstructorParameters<typeof ESLint>[0]>['overrideConfig'] & object[],
});

const messagesOn = async (path: string, code: string): Promise<readonly string[]> => {
  const [result] = await eslint.lintText(code, { filePath: join(root, path) });
  return (result?.messages ?? []).map(({ message }) => message);
};

const pure = 'src/gardener/a.ts';
const other = 'src/weeder/a.ts';

describe('the purity rules', () => {
  it.each(['element.innerHTML = text;', 'document.write(text);', 'element.insertAdjacentHTML("afterend", text);'])(
    'refuse HTML in the browser: %s',
    async (code) => {
      expect(await messagesOn('src/page/browser/a.ts', code)).toEqual([
        expect.stringContaining('Text from outside is text.'),
      ]);
    },
  );

  it.each([
    ...['new Date(0)', 'Date.now()', 'new Date()', 'x instanceof Date', 'f(Date)', 'let x: Date', 'fetch("")'],
    ...['crypto.subtle', 'process.env', 'performance.now()', 'setTimeout(f, 1)', 'queueMicrotask(f)', 'Math.random()'],
    ...['AbortSignal.timeout(1)', 'globalThis.x', 'const { random } = Math', 'new Date(...x).toISOString()'],
    ...['new Date(2026, 1).toISOString()', 'new Date(0).getHours()', 'new (f(Date))(0).toISOString()'],
  ])('refuse %s in a pure file', async (code) => {
    expect((await messagesOn(pure, code)).length).toBeGreaterThan(0);
  });

  it.each([
    ...['Date.now()', 'new Date()', 'const D = Date', 'f(Date)', 'performance.now()', 'setTimeout(f, 1)'],
    ...['setInterval(f, 1)', 'AbortSignal.timeout(1)', "import { setTimeout } from 'node:timers/promises'"],
    ...["import { performance } from 'node:perf_hooks'", 'Math.random()', 'const { random } = Math', 'f(Math)'],
    ...["import { randomUUID } from 'node:crypto'", 'crypto.randomUUID()', 'process.exit()', 'globalThis.x'],
    ...["import { exit } from 'node:process'", "import process from 'process'", 'import(path)'],
  ])('refuse %s elsewhere', async (code) => {
    expect((await messagesOn(other, code)).length).toBeGreaterThan(0);
  });

  it.each([
    [pure, "Date.parse('x') + Date.UTC(2026, 10) + Math.floor(1.5) + new Date(0).toISOString()"],
    [pure, 'const { process: handle } = queue; queue.fetch({ Date: 1, process: handle }).crypto.setTimeout'],
    [pure, 'interface Queue { process(item: string): void; performance: number; run(fetch: number): void }'],
    [other, 'new Date(0).toISOString(); socket.setTimeout(0); x instanceof Date; let at: Date'],
    [other, 'let timer: ReturnType<typeof setTimeout>; AbortSignal.any([a, b])'],
    ['src/main.ts', "import { exit } from 'node:process'; process.exit()"],
    ['src/process/clock.ts', "import { setTimeout } from 'node:timers/promises'; Date.now()"],
    ['src/process/random.ts', "import { randomUUID } from 'node:crypto'; Math.random()"],
    ['src/gardener/a.test.ts', 'new Date(); Math.random()'],
  ])('allow in %s: %s', async (path, code) => {
    expect(await messagesOn(path, code)).toEqual([]);
  });
});

it('no file contains a path that exists on one machine only', () => {
  const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const files = listed.stdout
    .split('\n')
    .filter((path) => /\.(?:ts|mjs|js|sh)$|^(?:Makefile|bin\/dwd|\.ci\/run)$/.test(path));
  const machinePath = /(?<![\w.*)\]}])\/(?:work|root)\/[\w.]/;
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((path) => machinePath.test(readFileSync(join(root, path), 'utf8')))).toEqual([]);
});
