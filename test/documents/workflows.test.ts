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

const files = globSync('.github/workflows/*', { cwd: root });

it.each(files)(
  '%s pins its actions by commit, has read-only permissions, and runs existing scripts and targets',
  (file) => {
    const { permissions, jobs } = parse(readFileSync(`${root}${file}`, 'utf8')) as Workflow;
    const steps = Object.values(jobs).flatMap(({ steps: all }) => all);
    expect(permissions).toEqual({ contents: 'read' });
    expect(steps.flatMap(({ uses = 'none@' }) => (/^none@$|@[0-9a-f]{40}$/.test(uses) ? [] : [uses]))).toEqual([]);
    const scripts = steps.flatMap(({ run = '' }) => (run === '' ? [] : [run]));
    expect(scripts).toContain('.ci/run');
    const targets = readFileSync(`${root}Makefile`, 'utf8')
      .match(/^[a-z-]+(?=:)/gm)
      ?.map((target) => `make ${target}`);
    for (const script of scripts.filter((each) => targets?.includes(each) !== true)) {
      accessSync(`${root}${script}`, constants.X_OK);
    }
  },
);
