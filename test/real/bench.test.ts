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
const launcher = fileURLToPath(new URL('../../bin/dwd', import.meta.url));
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

it('measures every part in a quick run', { timeout: 240_000 }, async () => {
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
      notTrue: 0,
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

it('withstands hostile clients of all its servers, and answers /healthz and probes meanwhile', {
  timeout: 120_000,
}, async () => {
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

it('measures two other programs with the same flags in turn', { timeout: 120_000 }, async () => {
  const command = `'${process.execPath}' '${launcher}'`;
  const { figures } = await run('--only', 'steady', '--target', command, '--vs', `env NODE_OPTIONS= ${command}`);
  expect(figures.steady).toMatchObject([
    { target: 'target', ...healthy },
    { target: 'other', ...healthy },
  ]);
});

it('shows the output of a program that cannot run, and continues', { timeout: 60_000 }, async () => {
  const { figures, text } = await run('--only', 'steady', '--target', 'echo no such flag:');
  expect(figures.steady).toEqual([]);
  expect(text).toMatch(/not measured: target has ended \(0\); its output ends with/);
  expect(text).toMatch(/^no such flag: prober --config-file=/m);
});

describeEnvtest('the race', () => {
  /** Runs a small race and ignores its exit code, which is 1 after lost nodes. */
  const runRace = async (...args: readonly string[]): Promise<{ readonly text: string; readonly json: unknown }> => {
    const json = join(directory, 'race.json');
    const small = ['--quick', '--shoots', '1', '--nodes', '3', '--rounds', '1', '--json', json];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [race, ...small, ...args]).catch(
      (error: unknown) => error as { readonly stdout: string; readonly stderr: string },
    );
    expect(existsSync(json), stderr).toBe(true);
    return { text: stdout + stderr, json: JSON.parse(readFileSync(json, 'utf8')) };
  };
  const time: unknown = expect.any(Number);
  const outage = { shoot: 'shoot-1', isProtected: true, nodes: 3, thresholdAt: time };

  it('runs outages with one replica, and with two, one of them cut off', { timeout: 300_000 }, async () => {
    const { text, json } = await runRace('--outages', 'failing-answers,leader-cut-off');
    expect(json, text).toMatchObject({
      outages: [
        { ...outage, kind: 'failing-answers' },
        { ...outage, kind: 'leader-cut-off', faultAt: time, restoration: { restoredAfterMs: time } },
      ],
    });
    expect(text).toMatch(/^failing-answers, leader-cut-off: about \d+ minutes$/m);
    expect(text).toMatch(/\| leader-cut-off +\| 1 +\| \d +\|/);
    expect(text).not.toContain('not played');
  });

  it('shows the output of a program that cannot run', { timeout: 120_000 }, async () => {
    const { text, json } = await runRace('--outages', 'plain', '--target', 'echo no such flag:');
    expect(json).toMatchObject({ outages: [], failures: [expect.stringContaining('plain, round 1: not played')] });
    expect(text).toMatch(/^no such flag: prober --config-file=/m);
  });
});
