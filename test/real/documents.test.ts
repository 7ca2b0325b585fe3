import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { documentAt, root } from '../documents/markdown.ts';
import { type ShellCommand, callsOf } from '../documents/shell.ts';

// Runs the documents' commands that a newcomer copies, as far as they need no cluster.

const offline: ReadonlySet<string | undefined> = new Set(['completion', 'help', 'schema', 'validate', 'version']);
const pages = ['README', 'docs/install'].map((name) => `${name}.md`).filter((page) => existsSync(`${root}${page}`));

/** Returns true if all files of the arguments are in the repository and no value is a placeholder. */
const isComplete = (args: ShellCommand): boolean =>
  args.every(
    (arg) => !/[<>$]/.test(arg) && (!/\.(?:ya?ml|json)$/.test(arg) || existsSync(root + arg.replace(/^.*=/, ''))),
  );

const calls = [
  ...new Map(
    pages
      .flatMap((page) => documentAt(page).scripts.flatMap((script) => callsOf('dwd', script)))
      .filter((args) => offline.has(args[0]) && isComplete(args))
      .map((args) => [args.join(' '), args] as const),
  ),
];

it('the documents have commands that need no cluster', () => {
  expect(calls.length).toBeGreaterThanOrEqual(1);
});

it.each(calls)('dwd %s', (_, args) => {
  const { status, stderr } = spawnSync(process.execPath, [`${root}bin/dwd`, ...args], { cwd: root, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});
