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
const race = fileURLToPath(new URL('../../bench/race.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'dwd-bench-test-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Attacked {
  readonly attacks: readonly { readonly connections: number; readonly pipelinedBytes: number }[];
  /** Null for a `/healthz` that was not answered. */
  readonly healthMs: readonly (number | null)[];
  readonly probesDuring: number;
  readonly bytesBefore: number;
  readonly bytesDuring: number;
}

interface Figures {
  readonly steady?: readonly Record<string, unknown>[];
  readonly outage?: readonly Record<string, unknown>[];
  readonly attacked?: readonly Attacked[];
  readonly recovery?: readonly Record<string, unknown>[];
  readonly care?: readonly Record<string, unknown>[];
  readonly operate?: readonly Record<string, unknown>[];
}

const run = async (...args: readonly string[]): Promise<{ readonly figures: Figures; readonly text: string }> => {
  const json = join(directory, 'figures.json');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [bench, '--quick', '--json', json, ...args]);
  return { figures: JSON.parse(readFileSync(json, 'utf8')) as Figures, text: stdout + stderr };
};

const healthy = {
  shoots: 3,
  nodes: 5,
  seedKinds: {},
  shootKinds: {
    'get /version': { requests: expect.any(Number) as number },
    'list leases': { bytes: expect.any(Number) as number },
  },
};

it('measures every part in a quick run', async () => {
  const { figures, text } = await run();
  expect(figures.steady).toMatchObject([{ target: 'dwd', ...healthy }]);
  expect(figures.steady?.[0]?.probes).toBeGreaterThan(0);
  expect((figures.steady?.[0]?.floor as { probes: number }).probes).toBeGreaterThan(0);
  expect(figures.steady?.[0]?.peakBytes).toBeGreaterThan(10e6);
  const count: unknown = expect.any(Number);
  expect(figures.outage).toMatchObject([
    { shoots: 3, protection: { shoots: count }, restoration: { deployments: count } },
  ]);
  expect(figures.recovery).toMatchObject([
    { target: 'dwd', shoots: 3, delays: Array.from({ length: 6 }, () => expect.any(Number) as number) },
  ]);
  const requests: unknown = expect.any(Number);
  expect(figures.care).toMatchObject([
    {
      target: 'dwd',
      shoots: 10,
      nodes: 5,
      notTrue: count,
      shootKinds: Object.fromEntries(
        ['get /healthz', 'get pods', 'list leases', 'list nodes', 'list pods'].map((kind) => [kind, { requests }]),
      ),
    },
  ]);
  const time: unknown = expect.any(Number);
  expect(figures.operate).toMatchObject([
    { shoots: 5, startMs: [time], leaderMs: [time], objectsMs: [time], preflightMs: [time] },
  ]);
  expect(figures.operate?.[0]?.statusBytes).toBeGreaterThan(1_000);
  expect(text).toMatch(/\| dwd +\| 3 x 5 /);
});

it('withstands hostile clients of all its servers, and answers /healthz and probes meanwhile', async () => {
  const { figures, text } = await run('--only', 'attacked');
  const [found] = figures.attacked ?? [];
  if (found === undefined) throw new Error(text);
  expect(found.attacks).toHaveLength(3);
  for (const { connections, pipelinedBytes } of found.attacks) {
    expect(connections).toBeGreaterThanOrEqual(100);
    expect(pipelinedBytes).toBeGreaterThanOrEqual(1e6);
  }
  expect(found.healthMs.length).toBeGreaterThan(0);
  expect(found.healthMs).not.toContain(null);
  expect(found.probesDuring).toBeGreaterThan(0);
  expect(found.bytesDuring - found.bytesBefore).toBeLessThan(64e6);
});

it('shows the output of a program that cannot run, and continues', async () => {
  const { figures, text } = await run('--only', 'steady', '--target', 'echo no such flag:');
  expect(figures.steady).toEqual([]);
  expect(text).toMatch(/not measured: target has ended \(0\); its output ends with/);
  expect(text).toMatch(/^no such flag: prober --config-file=/m);
});

describeEnvtest('the race', () => {
  it('shows the output of a program that cannot run', async () => {
    const json = join(directory, 'race.json');
    const small = ['--quick', '--shoots', '1', '--nodes', '3', '--rounds', '1', '--json', json];
    const cannotRun = ['--outages', 'plain', '--target', 'echo no such flag:'];
    // Its exit code is 1.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [race, ...small, ...cannotRun]).catch(
      (error: unknown) => error as { readonly stdout: string; readonly stderr: string },
    );
    expect(existsSync(json), stderr).toBe(true);
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({
      outages: [],
      failures: [expect.stringContaining('plain, round 1: not played')],
    });
    expect(stdout + stderr).toMatch(/^no such flag: prober --config-file=/m);
  });
});
