import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dwd } from './testing/dwd.ts';

/** The commands, as the help that lists them has them. */
const list = readFileSync(new URL('fixtures/help-all.txt', import.meta.url), 'utf8');
const names = Array.from(list.matchAll(/^ {2}([a-z]+) {3,}/gm), ([, name = '']) => name);

describe('help', () => {
  it.each([['help'], ['--help'], ['-h'], ['-help']])('dwd %s goes to stdout', async (arg) => {
    const { code, stdout, stderr } = await dwd(arg);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: dwd COMMAND/);
  });

  it.each([[['prober', '--help']], [['prober', '--dry-run', '-h']]])(
    'dwd %j prints the help of the prober',
    async (argv) => {
      expect(await dwd(...argv)).toEqual(await dwd('help', 'prober'));
    },
  );

  it.each(['all', ...names])('of %s has not changed and fits into 80 columns', async (name) => {
    const { stdout } = await dwd('help', ...(name === 'all' ? [] : [name]));
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    await expect(stdout).toMatchFileSnapshot(`fixtures/help-${name}.txt`);
  });

  it('dwd alone prints the usage to stderr', async () => {
    const { code, stdout, stderr } = await dwd();
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe((await dwd('help')).stdout);
  });

  it('dwd help NONSENSE fails', async () => {
    const { code, stdout, stderr } = await dwd('help', 'nonsense');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'dwd help: there is no command "nonsense"\n\nUsage: dwd help [COMMAND]\nRun "dwd help help" for more.\n',
    );
  });
});

describe('version', () => {
  it('prints version, commit and Node version', async () => {
    expect(await dwd('version')).toMatchObject({
      code: 0,
      stdout: 'dwd dev, commit unknown, Node v24.0.0\n',
      stderr: '',
    });
  });

  it.each(['--version', '-version', '-V'])('dwd %s is the same as dwd version', async (word) => {
    expect(await dwd(word)).toEqual(await dwd('version'));
    expect(await dwd(word, '--output=json')).toEqual(await dwd('version', '--output=json'));
    expect((await dwd(word, 'x')).stderr).toContain('Usage: dwd version ');
  });

  it.each([['--output=json'], ['-ojson'], ['-o', 'JSON']])('%s %s prints them for programs', async (...args) => {
    expect(JSON.parse((await dwd('version', ...args)).stdout)).toEqual({
      version: 'dev',
      commit: 'unknown',
      node: 'v24.0.0',
    });
  });

  it('prints YAML', async () => {
    expect((await dwd('version', '-o', 'yaml')).stdout).toBe('version: dev\ncommit: unknown\nnode: v24.0.0\n');
  });
});

describe('wrong command lines', () => {
  it.each([
    [['nonsense'], "dwd: unknown command 'nonsense'", 'Usage: dwd COMMAND [flags]'],
    [['--config-file=x'], "dwd: unknown flag '--config-file'", 'Usage: dwd COMMAND [flags]'],
    [['prober'], 'dwd prober: flag --config-file is required; it takes the path of the configuration file'],
    [
      ['prober', '--config-file='],
      'dwd prober: flag --config-file takes the path of the configuration file; it was given ""',
    ],
    [
      ['prober', '--config-file=x', '--kube-api-qsp=3'],
      "dwd prober: unknown flag '--kube-api-qsp'\n(Did you mean --kube-api-qps?)",
    ],
    [['version', '-o'], 'dwd version: flag --output needs a value; it takes table, json or yaml'],
    [['release', '-nfoo', '--alll'], "dwd release: unknown flag '--nfoo'"],
    [['completion'], "dwd completion: missing required argument 'SHELL'"],
    [['completion', 'ksh'], 'dwd completion: SHELL is bash, zsh or fish; it was given "ksh"'],
    [['version', 'x'], "dwd version: too many arguments for 'version'"],
    [['validate', 'config.yaml'], 'dwd validate: flag --component is required for config.yaml, which has no kind'],
    [['validate', '--component=prober'], "dwd validate: missing required argument 'FILE'"],
    [
      ['validate', '--component=kubelet', 'x'],
      'dwd validate: flag --component takes prober, weeder or care; it was given "kubelet"',
    ],
  ])('%j: %s', async (argv, message, usage = `Usage: dwd ${argv[0] ?? ''} `) => {
    const { code, stdout, stderr, started } = await dwd(...argv);
    expect({ code, stdout, started }).toEqual({ code: 2, stdout: '', started: [] });
    expect(stderr.slice(0, message.length)).toBe(message);
    expect(stderr).toContain(`\n\n${usage}`);
  });
});
