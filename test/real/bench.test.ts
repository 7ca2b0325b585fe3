import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { describeEnvtest } from '../envtest/gate.ts';

// Verifies that the benchmark works. Its figures mean nothing on a busy machine and are not checked.

const bench = fileURLToPath(new URL('../../bench/bench.ts', import.meta.url));

/** Runs the benchmark, and returns its output and its exit code. */
const run = async (...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> => {
  const { code, stdout, stderr } = await promisify(execFile)(process.execPath, [bench, ...args]).then(
    (streams) => ({ ...streams, code: 0 }),
    (error: unknown) => error as { readonly code: number; readonly stdout: string; readonly stderr: string },
  );
  return { code, text: stdout + stderr };
};

it('measures every part', async () => {
  const { code, text } = await run('--scale', '0.1', '--shoots', '3', '--nodes', '5');
  expect(code, text).toBe(0);
  expect(text).toMatch(/\| 3 x 5 +\| 10 s +\| \d+ /);
  expect(text).toMatch(/\d of 3 shoots were scaled down, \d of 9 Deployments restored/);
  expect(text).toMatch(/\| pods .*\n.*\n\| 6 /);
});

it('shows the output of a program that cannot run, and continues', async () => {
  const { code, text } = await run('--shoots', '1', '--only', 'steady,recovery', '--target', 'echo no such flag:');
  expect(code).toBe(1);
  expect(
    text.match(/not measured: target has ended; its output ends with\nno such flag: (prober|weeder) /g),
  ).toHaveLength(2);
});

describeEnvtest('the race', () => {
  const small = ['--only', 'race', '--scale', '0.2', '--shoots', '1', '--nodes', '3', '--rounds', '1'];

  it('runs outages with one replica, with an external probe, and with two replicas, one of them cut off', async () => {
    const { text } = await run(...small, '--outages', 'plain,failing-answers,leader-cut-off,external');
    for (const kind of ['plain', 'failing-answers', 'leader-cut-off', 'external']) {
      expect(text).toMatch(new RegExp(`\\| ${kind} +\\| 1 +\\| \\d +\\|`));
    }
    expect(text).toMatch(/plain, alone: .* \d of 3 nodes Unknown/);
    expect(text).toMatch(/leader-cut-off, shoot-1: margin .*, leader struck after .*, restored \d/);
    expect(text).not.toContain('not played');
  });
});
