import { accessSync, constants, globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from './markdown.ts';

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { readonly uses?: string; readonly run?: string }[] }>
  >;
}

const targets = Array.from(readFileSync(`${root}Makefile`, 'utf8').matchAll(/^([a-z-]+):/gm), ([, target]) => target);
/** What GitHub's runner has. */
const installed = ['docker', 'gh', 'helm'];

it.each(globSync('.github/workflows/*', { cwd: root }))(
  '%s pins its actions by commit, has read-only permissions by default, and runs existing scripts and targets',
  (file) => {
    const { permissions, jobs } = parse(readFileSync(`${root}${file}`, 'utf8')) as Workflow;
    const steps = Object.values(jobs).flatMap(({ steps: all }) => all);
    expect(permissions).toEqual({ contents: 'read' });
    expect(steps.flatMap(({ uses = 'none@' }) => (/^none@$|@[0-9a-f]{40}$/.test(uses) ? [] : [uses]))).toEqual([]);
    const runs = steps.flatMap(({ run }) => (run === undefined ? [] : [run.split(' ')]));
    expect(runs.length).toBeGreaterThan(0);
    for (const [command = '', target] of runs) {
      if (command === 'make') expect(targets).toContain(target);
      else if (!installed.includes(command)) accessSync(`${root}${command}`, constants.X_OK);
    }
  },
);
