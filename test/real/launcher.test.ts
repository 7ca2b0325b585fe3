import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

// bin/dwd of a checkout and of the npm package, with a program that says which Node runs it.

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = `process.on('SIGTERM', () => process.exit(7));
if (process.argv[2] === 'wait') setInterval(() => undefined, 1_000);
console.log(JSON.stringify([process.pid, process.versions.node, process.argv.slice(2)]));
`;
const pinned = `tools/node/node_modules/node-${process.platform}-${process.arch}/bin/node`;

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'dwd-launcher-'));
  for (const version of ['20.20.2', '22.18.9', '22.19.0', '24.0.0']) {
    const old = join(directory, `${version}.cjs`);
    const versions = `{ ...process.versions, node: '${version}' }`;
    writeFileSync(old, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
    mkdirSync(join(directory, version));
    writeFileSync(join(directory, version, 'node'), `#!/bin/sh\nexec '${process.execPath}' --require '${old}' "$@"\n`, {
      mode: 0o755,
    });
  }
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Returns the path of a launcher: `package` is as npm installs it, `checkout` has tools/node as well, `set up` also the pinned Node in it. */
const install = (kind: 'package' | 'checkout' | 'set up'): string => {
  const at = mkdtempSync(join(directory, 'dwd '));
  cpSync(`${root}bin`, join(at, 'bin'), { recursive: true });
  cpSync(`${root}package.json`, join(at, 'package.json'));
  mkdirSync(join(at, 'dist'));
  writeFileSync(join(at, 'dist/dwd.js'), program);
  if (kind !== 'package') mkdirSync(join(at, 'tools/node'), { recursive: true });
  if (kind === 'set up') {
    mkdirSync(join(at, pinned, '..'), { recursive: true });
    symlinkSync(process.execPath, join(at, pinned));
  }
  symlinkSync(join(at, 'bin/dwd'), join(at, 'link'));
  return join(at, 'link');
};
const envOf = (version: string) => ({ PATH: `${join(directory, version)}:/usr/bin:/bin` });
const run = (launcher: string, version: string): SpawnSyncReturns<string> =>
  spawnSync(launcher, ['a b', '--c=*'], { encoding: 'utf8', env: envOf(version) });

it('runs on the Node of the machine', () => {
  for (const version of ['22.19.0', '24.0.0']) {
    const { pid, stdout, stderr, status } = run(install('package'), version);
    expect([stderr, status, JSON.parse(stdout)]).toEqual(['', 0, [pid, version, ['a b', '--c=*']]]);
  }
});

it.each(['20.20.2', '22.18.9'])('runs on the pinned Node of a checkout where that of the machine is %s', (version) => {
  const { pid, stdout, stderr, status } = run(install('set up'), version);
  expect([stderr, status, JSON.parse(stdout)]).toEqual(['', 0, [pid, process.versions.node, ['a b', '--c=*']]]);
});

it('is the program itself: a signal reaches it, and its exit code is that of the launcher', async () => {
  const child = spawn(install('set up'), ['wait'], { env: envOf('20.20.2'), stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await ended).toEqual([7, null]);
});

it.each([
  ['package', ''],
  ['checkout', `, and tools/node has no node-${process.platform}-${process.arch}: \`make setup\` installs it on Linux`],
] as const)('says in one sentence what is missing in a %s', (kind, hint) => {
  const { stdout, stderr, status } = run(install(kind), '20.20.2');
  expect([stdout, stderr, status]).toEqual(['', `dwd needs Node 22.19 or newer; this is Node 20.20.2${hint}\n`, 1]);
});
