import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const bin = fileURLToPath(new URL('../../bin', import.meta.url));
const env = { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}`, TERM: 'dumb', HISTFILE: '/dev/null' };

/** A command of util-linux. */
const inTerminal = 'script';

const shells = {
  bash: ['bash --norc --noprofile -i', 'source <(dwd completion bash)'],
  zsh: ['zsh -f -i', 'unset zle_bracketed_paste; autoload -U compinit; compinit -D -u; source <(dwd completion zsh)'],
} as const;

const has = (shell: string): boolean => spawnSync(shell, ['--version']).error === undefined;

/** Types lines in an interactive shell, where a tab completes. Returns the arguments of the calls of `dwd`. */
const typed = async (shell: keyof typeof shells, lines: readonly string[]): Promise<readonly string[]> => {
  const [command, loading] = shells[shell];
  const child = spawn(inTerminal, ['--quiet', '--return', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  // A shell function replaces the program. Its completion is the program's.
  const start = [loading, `dwd() { printf 'CALLED<%s>\\n' "$*"; }`];
  child.stdin.end([...start, ...lines, 'exit', ''].join('\n'));
  await once(child, 'close');
  return [...text.matchAll(/^CALLED<(.*)>\r*$/gm)].map(([, args]) => args?.trimEnd() ?? '');
};

describe('dwd completion', () => {
  it.for(['bash', 'zsh'] as const)(
    'completes commands, flags and their values in a real %s',
    async (shell, { skip }) => {
      skip(!has(shell), `${shell} is not installed`);
      const calls: readonly (readonly [keys: string, args: string])[] = [
        ['dwd val\t', 'validate'],
        ['dwd sim\t', 'simulate'],
        ['dwd pro\t--dry\t', 'prober --dry-run'],
        ['dwd care --outp\tjs\t', 'care --output json'],
        ['dwd care --output=js\t', 'care --output=json'],
        ['dwd care -o y\t', 'care -o yaml'],
        ['dwd validate --comp\tpro\tpackage.j\t', 'validate --component prober package.json'],
        ['dwd rehearse --config-file package.j\t', 'rehearse --config-file package.json'],
        ['dwd rehearse --config-file=package.j\t', 'rehearse --config-file=package.json'],
        ['dwd rehearse --fault=na\t', 'rehearse --fault=nat'],
        ['dwd simulate --fa\tna\t', 'simulate --fault nat'],
        ['dwd completion fi\t', 'completion fish'],
      ];
      expect(
        await typed(
          shell,
          calls.map(([keys]) => keys),
        ),
      ).toEqual(calls.map(([, args]) => args));
    },
  );

  it.for<[keys: string, found: string | RegExp]>([
    ['dwd val', /^validate\tcheck configuration files\n/],
    ['dwd care --outp', /^--output\tOutput format/],
    ['dwd care --output ', /^json\ntable\nyaml\n$/],
    ['dwd care --output=js', '--output=json\n'],
    ['dwd validate package.j', 'package.json\n'],
  ])('completes in a real fish: %s', ([keys, found], { skip }) => {
    skip(!has('fish'), 'fish is not installed');
    const { stdout } = spawnSync('fish', ['-c', `dwd completion fish | source; complete -C '${keys}'`], {
      encoding: 'utf8',
      env,
    });
    expect(stdout).toMatch(found);
  });
});
