import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { marked } from 'marked';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// The packed npm package, installed without a registry in an empty folder.

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { readonly version: string };

let project: string;
let packed: ReadonlySet<string>;
const installed = (path: string): string => join(project, 'node_modules/dependency-watchdog', path);
const run = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { cwd: project, encoding: 'utf8' });

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'dwd-package-'));
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', project];
  const [tarball] = JSON.parse(execFileSync('npm', pack, { cwd: root, encoding: 'utf8' })) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  packed = new Set(tarball.files.map(({ path }) => path));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module', private: true }));
  run('npm', 'install', '--offline', '--no-audit', '--no-fund', `./${tarball.filename}`);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Returns the packages as `NAME VERSION`, in the order of the file. */
const namesIn = (licences: string): readonly string[] =>
  licences
    .split(`\n${'-'.repeat(80)}\n`)
    .slice(1)
    .map((entry) => /^\n(\S+ \S+) \(/.exec(entry)?.[1] ?? entry);

describe('the package', () => {
  it('has the files that the README links to, and neither sources nor source maps', () => {
    const links: string[] = [];
    void marked.walkTokens(marked.lexer(readFileSync(`${root}README.md`, 'utf8')), (token) => {
      if (token.type === 'link' && !/^(?:https?:|#)/.test(token.href as string)) links.push(token.href as string);
    });
    const missing = links.map((link) => link.replace(/#.*/, '')).filter((path) => !existsSync(installed(path)));
    expect([links.length > 5, missing]).toEqual([true, []]);
    expect(
      [...packed].filter((path) => path.endsWith('.map') || /^(?:src|test|tools|node_modules)\//.test(path)),
    ).toEqual([]);
  });

  it('has no dependencies', () => {
    const tree = JSON.parse(run('npm', 'ls', '--all', '--json')) as { readonly dependencies: Record<string, object> };
    expect(Object.keys(tree.dependencies)).toEqual(['dependency-watchdog']);
    expect(tree.dependencies['dependency-watchdog']).not.toHaveProperty('dependencies');
    expect(tree).not.toHaveProperty('problems');
  });

  it('runs', () => {
    expect(run('npx', '--offline', 'dwd', 'version')).toMatch(`dwd ${version}, commit `);
    expect(
      run('npx', '--offline', 'dwd', 'validate', '--component=prober', installed('examples/prober-config.yaml')),
    ).toBe('');
  });

  it('can be imported', () => {
    const source = `
      import { runExtension } from 'dependency-watchdog/healthcheck';
      console.log(typeof runExtension);`;
    expect(run(process.execPath, '--input-type=module', '--eval', source)).toBe('function\n');
  });
});

interface Output {
  readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>;
  readonly imports: readonly { readonly path: string; readonly external?: boolean }[];
}

describe('the bundled code', () => {
  const metafile = JSON.parse(readFileSync(`${root}.cache/metafile.json`, 'utf8')) as {
    readonly inputs: Readonly<Record<string, unknown>>;
    readonly outputs: Readonly<Record<string, Output>>;
  };
  const paths = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const names = new Set(paths.flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));

  /** Returns the sources in the file and in all that it loads. */
  const sourcesOf = (file: string): ReadonlySet<string> => {
    const loaded = new Set([file]);
    for (const each of loaded) {
      for (const { path, external } of metafile.outputs[each]?.imports ?? []) if (external !== true) loaded.add(path);
    }
    return new Set(Array.from(loaded).flatMap((each) => Object.keys(metafile.outputs[each]?.inputs ?? {})));
  };

  it('has every source once', () => {
    const programs = Object.entries(metafile.outputs).filter(([file]) => !file.startsWith('dist/page/'));
    const sources = programs.flatMap(([, { inputs }]) =>
      Object.keys(inputs).filter((path) => inputs[path]?.bytesInOutput !== 0),
    );
    expect(sources.filter((path, index) => sources.indexOf(path) !== index)).toEqual([]);
  });

  it('has the simulator in files that the watchdogs and the library do not load', () => {
    const simulated = (file: string): readonly string[] =>
      [...sourcesOf(file)].filter((path) => /^simulator\/|x509/.test(path));
    expect(simulated('dist/simulator.js')).toContain('simulator/cli/index.ts');
    expect(sourcesOf('dist/dwd.js')).toContain('src/prober/index.ts');
    expect(sourcesOf('dist/healthcheck.js')).toContain('src/healthcheck/index.ts');
    expect([simulated('dist/dwd.js'), simulated('dist/healthcheck.js')]).toEqual([[], []]);
    expect(
      [...sourcesOf('dist/healthcheck.js')].filter((path) => /^src\/(?:cli|prober|weeder|care)\//.test(path)),
    ).toEqual([]);
  });

  it("is all in the context of the image's build", () => {
    const context = readFileSync(`${root}.dockerignore`, 'utf8').split('\n');
    const folders = new Set(Object.keys(metafile.inputs).map((path) => path.split('/')[0] ?? ''));
    expect([...folders].filter((folder) => folder !== 'node_modules' && !context.includes(`!${folder}`))).toEqual([]);
  });

  it('is listed with its licences', () => {
    const text = readFileSync(installed('dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    const listed = namesIn(text).map((entry) => entry.split(' ')[0]);
    expect(listed).toContain('zod');
    expect([...names].filter((name) => !listed.includes(name))).toEqual([]);
    expect(
      text.match(/Permission is hereby granted|Redistribution and use|Apache License|Permission to use/g)?.length,
    ).toBeGreaterThanOrEqual(listed.length);
  });

  it('is refused without a licence', () => {
    const directory = mkdtempSync(join(tmpdir(), 'dwd-licences-'));
    mkdirSync(join(directory, 'node_modules/@some/thing'), { recursive: true });
    const manifest = { name: '@some/thing', version: '1.2.3', license: 'MIT' };
    writeFileSync(join(directory, 'node_modules/@some/thing/package.json'), JSON.stringify(manifest));
    const inputs = { 'node_modules/@some/thing/a.js': { bytesInOutput: 1 } };
    writeFileSync(join(directory, 'metafile.json'), JSON.stringify({ outputs: { 'dist/a.js': { inputs } } }));
    const collect = () =>
      spawnSync(process.execPath, [`${root}tools/third-party.mjs`, 'metafile.json', 'licences.txt'], {
        cwd: directory,
        encoding: 'utf8',
      });
    const refused = collect();
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('@some/thing 1.2.3 is bundled and has no licence that could be passed on');
    writeFileSync(join(directory, 'node_modules/@some/thing/LICENCE.md'), 'Do what you like.');
    expect(collect().status).toBe(0);
    expect(readFileSync(join(directory, 'licences.txt'), 'utf8')).toContain(
      '@some/thing 1.2.3 (MIT)\n\nDo what you like.',
    );
    rmSync(directory, { recursive: true });
  });
});
