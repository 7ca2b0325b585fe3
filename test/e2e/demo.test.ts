import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const dwd = fileURLToPath(new URL('../../bin/dwd', import.meta.url));

interface Show {
  readonly process: ChildProcess;
  /** Its temporary files are here. */
  readonly directory: string;
  output(): string;
  readonly exit: Promise<number | null>;
}

const shows: Show[] = [];

/** Starts the built program. */
const start = (...args: readonly string[]): Show => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-demo-test-'));
  const child = spawn(process.execPath, [dwd, 'demo', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: directory, NO_COLOR: '1', FORCE_COLOR: undefined },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const show = { process: child, directory, output: () => text, exit };
  shows.push(show);
  return show;
};

const until = async (condition: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  for (let tries = 0; tries < 300; tries += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`waited in vain until ${what}`);
};

/** Directories of the demo that are there; its log, a file, stays for who wants to read it. */
const leftovers = ({ directory }: Show): readonly string[] =>
  readdirSync(directory).filter((name) => !name.endsWith('.log'));

/** Processes that were started for it, or by it: its directory is among their arguments. */
const processes = ({ directory }: Show): readonly string[] =>
  execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(directory));

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** Waits until the prober watches; returns the port of the simulated seed and the paths that were printed. */
const whenWatched = async (show: Show): Promise<{ readonly port: number; readonly log: string }> => {
  await until(() => show.output().includes('the prober has looked'), 'the prober watches');
  const kubeconfig = readFileSync(/KUBECONFIG=(.*)/.exec(show.output())![1]!, 'utf8');
  return {
    port: Number(/127\.0\.0\.1:(\d+)/.exec(kubeconfig)![1]),
    log: / (\S+\.log)$/m.exec(show.output())![1]!,
  };
};

const proberRuns = (log: string): boolean => readFileSync(log, 'utf8').includes('"msg":"verdict"');

afterAll(async () => {
  for (const { process: child, directory, exit } of shows) {
    child.kill('SIGKILL');
    await exit;
    rmSync(directory, { recursive: true, force: true });
  }
});

describe('dwd demo', () => {
  let [withProber, without]: (Show | undefined)[] = [];
  let codes: readonly (number | null)[] = [];

  beforeAll(async () => {
    withProber = start();
    without = start('--without-prober');
    codes = await Promise.all([withProber.exit, without.exit]);
  });

  it('sees protection and restoration, and exits with 0', () => {
    const text = withProber!.output();
    expect(text).not.toContain('NOT SEEN');
    expect(text.match(/\[seen\]/g)).toHaveLength(5);
    expect(text).toContain('kube-controller-manager     2 -> 0');
    expect(text).toContain('kube-controller-manager     0 -> 2');
    expect(codes[0]).toBe(0);
  });

  it('without the prober sees nodes turn Unknown, and exits with 1', () => {
    const text = without!.output();
    expect(text).toMatch(/KCM has given up \d nodes? \(Unknown\): 0 of 5 Ready/);
    expect(text).toContain('[NOT SEEN] no node turned Unknown');
    expect(codes[1]).toBe(1);
  });

  it('prints no line of more than 80 columns, and no colours into a pipe', () => {
    for (const show of [withProber!, without!]) {
      // The directory of this test makes paths longer than they are.
      const lines = show.output().replaceAll(show.directory, '/tmp').split('\n');
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(show.output()).not.toContain('\u001b');
    }
  });

  it('leaves nothing but the log that it named', () => {
    expect([...processes(withProber!), ...processes(without!)]).toEqual([]);
    expect(leftovers(withProber!)).toEqual([]);
    expect(readdirSync(without!.directory)).toEqual([]);
    const log = / (\S+\.log)$/m.exec(withProber!.output())![1]!;
    expect(readFileSync(log, 'utf8')).toContain('"msg":"scaled down"');
  });
});

describe('dwd demo, interrupted', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('by %s ends its world and its prober', async (signal) => {
    const show = start();
    const { port, log } = await whenWatched(show);
    expect(proberRuns(log)).toBe(true);
    expect(await isListening(port)).toBe(true);
    expect(processes(show)).toHaveLength(2);
    show.process.kill(signal);
    expect(await show.exit).toBe(signal === 'SIGKILL' ? null : 130);
    await until(async () => !(await isListening(port)), 'the world is gone');
    await until(() => leftovers(show).length === 0, 'the temporary directory is gone');
    await until(() => processes(show).length === 0, 'its processes are gone');
    expect(readFileSync(log, 'utf8')).toContain('"msg":"stopping"');
  });
});
