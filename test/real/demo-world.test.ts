import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Show, endDemos, startDemoIn, until } from './support/demo.ts';

const own = ['alpha', 'bravo', 'charlie', 'seed', 'twin'].map((name) => `${name}.kubeconfig`);
const mine = 'somebody has worked on this for years';

afterAll(endDemos);

/** Serves a world in the directory `name`, below a directory that `prepare` may fill before. */
const serve = async (name: string, prepare: (root: string) => void = () => undefined): Promise<Show> => {
  const show = startDemoIn({ prepare, args: (root) => [`--serve-world=${join(root, name)}`] });
  await Promise.race([until(() => show.output().includes('\n'), 'the world is served or refused'), show.exit]);
  return show;
};

const end = async (show: Show): Promise<number | null> => {
  show.process.stdin?.end();
  return show.exit;
};

describe('dwd demo --serve-world with a directory that is not empty', () => {
  const fill = (directory: string): void => {
    mkdirSync(directory);
    writeFileSync(join(directory, 'seed.kubeconfig'), mine);
  };

  it.each<[what: string, name: string, prepare: (root: string) => void, problem: RegExp]>([
    [
      'a directory with a file',
      'work',
      (root) => fill(join(root, 'work')),
      /it is not empty, it holds seed\.kubeconfig/,
    ],
    [
      'a link to a directory with a file',
      'link',
      (root) => {
        fill(join(root, 'work'));
        symlinkSync('work', join(root, 'link'));
      },
      /it is not empty/,
    ],
  ])('refuses %s and changes nothing', async (_, name, prepare, problem) => {
    let before: readonly unknown[] = [];
    const show = await serve(name, (root) => {
      prepare(root);
      before = readdirSync(root, { recursive: true });
    });
    expect(await end(show)).toBe(1);
    expect(show.output()).toMatch(problem);
    expect(show.output()).toMatch(/^dwd demo: cannot use --serve-world \S+: .*\n$/);
    expect(readdirSync(show.directory, { recursive: true })).toEqual(before);
  });
});

describe('dwd demo --serve-world', () => {
  it.each<[how: string, end: (show: Show) => unknown]>([
    ['the end of stdin', (show) => show.process.stdin?.end()],
    ['SIGTERM', (show) => show.process.kill('SIGTERM')],
  ])('removes its kubeconfigs at %s, and keeps a directory that was empty before', async (_, stop) => {
    const show = await serve('work', (root) => mkdirSync(join(root, 'work')));
    expect(readdirSync(join(show.directory, 'work'))).toEqual(own);
    stop(show);
    expect(await show.exit).toBe(0);
    expect(readdirSync(join(show.directory, 'work'))).toEqual([]);
  });

  it('creates a directory that only its owner may read, and removes it', async () => {
    const show = await serve('work');
    expect(lstatSync(join(show.directory, 'work')).mode & 0o777).toBe(0o700);
    expect(await end(show)).toBe(0);
    expect(readdirSync(show.directory)).toEqual([]);
  });

  it('keeps files that it has not written', async () => {
    const show = await serve('work');
    writeFileSync(join(show.directory, 'work', 'notes'), mine);
    expect(await end(show)).toBe(0);
    expect(readdirSync(join(show.directory, 'work'))).toEqual(['notes']);
  });

  it('does not follow a link that was changed meanwhile', async () => {
    const show = await serve('link', (root) => {
      mkdirSync(join(root, 'empty'));
      mkdirSync(join(root, 'work'));
      writeFileSync(join(root, 'work', 'seed.kubeconfig'), mine);
      symlinkSync('empty', join(root, 'link'));
    });
    const link = join(show.directory, 'link');
    rmSync(link);
    symlinkSync('work', link);
    expect(await end(show)).toBe(0);
    expect(readFileSync(join(show.directory, 'work', 'seed.kubeconfig'), 'utf8')).toBe(mine);
    expect(readdirSync(join(show.directory, 'empty'))).toEqual([]);
  });
});
