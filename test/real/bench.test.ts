import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { describeEnvtest } from '../envtest/gate.ts';

// Verifies that the benchmark works. Its figures mean nothing on a busy machine and are not checked.

const bench = fileURLToPath(new URL('../../bench/bench.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'dwd-bench-test-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Figures {
  readonly steady?: unknown;
  readonly outage?: unknown;
  readonly recovery?: unknown;
  readonly race?: unknown;
}

/** Runs the benchmark and ignores its exit code, which is 1 after lost nodes. */
const run = async (...args: readonly string[]): Promise<{ readonly figures: Figures; readonly text: string }> => {
  const json = join(directory, 'figures.json');
  rmSync(json, { force: true });
  const command = [bench, '--quick', '--json', json, ...args];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command).catch(
    (error: unknown) => error as { readonly stdout: string; readonly stderr: string },
  );
  expect(existsSync(json), stderr).toBe(true);
  return { figures: JSON.parse(readFileSync(json, 'utf8')) as Figures, text: stdout + stderr };
};

const count: unknown = expect.any(Number);
const positive: unknown = expect.toSatisfy((value: number) => value > 0);

it('measures every part in a quick run', async () => {
  const { figures, text } = await run();
  expect(figures.steady).toMatchObject([
    {
      ...{ shoots: 3, nodes: 5, probes: positive, peakBytes: positive, seedRequests: count },
      floor: { probes: positive, peakBytes: positive },
      traffic: { requests: { 'get /version': count, 'list leases': count }, tcp: { connections: count } },
    },
  ]);
  expect(figures.outage).toMatchObject([
    { shoots: 3, protection: { shoots: count }, restoration: { deployments: count } },
  ]);
  expect(figures.recovery).toMatchObject([{ shoots: 3, delays: Array.from({ length: 6 }, () => count) }]);
  expect(text).toMatch(/\| 3 x 5 /);
});

it('shows the output of a program that cannot run, and continues', async () => {
  const { figures, text } = await run('--only', 'steady,recovery', '--target', 'echo no such flag:');
  expect(figures).toMatchObject({ steady: [], recovery: [] });
  expect(text).toMatch(/not measured: target has ended \(0\); its output ends with/);
  expect(text).toMatch(/^no such flag: prober --config-file=/m);
});

describeEnvtest('the race', () => {
  const small = ['--only', 'race', '--shoots', '1', '--nodes', '3', '--rounds', '1'];
  const outage = { shoot: 'shoot-1', isProtected: true, nodes: 3, thresholdAt: count };

  it('runs outages with one replica, with an external probe, and with two replicas, one of them cut off', {
    timeout: 400_000,
  }, async () => {
    const { figures, text } = await run(...small, '--outages', 'failing-answers,leader-cut-off,external');
    expect(figures.race, text).toMatchObject({
      outages: [
        { ...outage, kind: 'failing-answers' },
        { ...outage, kind: 'leader-cut-off', faultAt: count, restoration: { restoredAfterMs: count } },
        { ...outage, kind: 'external' },
      ],
    });
    expect(text).toMatch(/\| leader-cut-off +\| 1 +\| \d +\|/);
    expect(text).not.toContain('not played');
  });

  it('shows the output of a program that cannot run', async () => {
    const { figures, text } = await run(...small, '--outages', 'plain', '--target', 'echo no such flag:');
    expect(figures.race).toMatchObject({
      outages: [],
      failures: [expect.stringContaining('plain, round 1: not played')],
    });
    expect(text).toMatch(/^no such flag: prober --config-file=/m);
  });
});
