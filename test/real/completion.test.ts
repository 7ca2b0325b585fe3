import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const dwd = fileURLToPath(new URL('../../bin/dwd', import.meta.url));

/** A command of util-linux. */
const inTerminal = 'script';

/** Types lines in an interactive bash, where a tab completes. Returns the arguments of the calls of `dwd`. */
const typed = async (lines: readonly string[]): Promise<readonly string[]> => {
  const child = spawn(inTerminal, ['--quiet', '--return', '--command', 'bash --norc --noprofile -i', '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TERM: 'dumb', HISTFILE: '/dev/null' },
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  // A shell function replaces the program. Its completion is the program's.
  const start = [`source <(${dwd} completion bash)`, `dwd() { printf 'CALLED<%s>\\n' "$*"; }`];
  child.stdin.end([...start, ...lines, 'exit', ''].join('\n'));
  await once(child, 'close');
  return [...text.matchAll(/^CALLED<(.*)>\r*$/gm)].map(([, args]) => args ?? '');
};

describe('dwd completion', () => {
  it('completes commands, flags and their values in a real bash', async () => {
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
    expect(await typed(calls.map(([keys]) => keys))).toEqual(calls.map(([, args]) => args));
  });

  it.each(['bash', 'zsh', 'fish'])('prints a script that %s can read', (shell) => {
    const { stdout: script, status } = spawnSync(dwd, ['completion', shell], { encoding: 'utf8' });
    expect(status).toBe(0);
    for (const word of ['prober', 'rehearse', 'completion', 'config-file', 'dry-run', 'without-weeder']) {
      expect(script).toContain(word);
    }
    if (spawnSync(shell, ['--version']).error !== undefined) return;
    const { status: read, stderr } = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' });
    expect({ read, stderr }).toEqual({ read: 0, stderr: '' });
  });
});
