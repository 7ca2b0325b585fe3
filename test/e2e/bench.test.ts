import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';

// That the benchmark works, so that it cannot rot. Its figures on a busy machine mean nothing and are not looked at.

const bench = fileURLToPath(new URL('../../bench/bench.ts', import.meta.url));
const launcher = fileURLToPath(new URL('../../bin/dwd', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'dwd-bench-test-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Figures {
  readonly steady?: readonly Record<string, unknown>[];
  readonly outage?: readonly Record<string, unknown>[];
  readonly recovery?: readonly Record<string, unknown>[];
  readonly care?: readonly Record<string, unknown>[];
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

it('measures every part from outside, by a quick run', { timeout: 240_000 }, async () => {
  const { figures, text } = await run();
  expect(figures.steady).toMatchObject([{ target: 'dwd', ...healthy }]);
  expect(figures.steady?.[0]?.probes).toBeGreaterThan(0);
  expect((figures.steady?.[0]?.floor as { probes: number }).probes).toBeGreaterThan(0);
  expect(figures.steady?.[0]?.peakBytes).toBeGreaterThan(10e6);
  expect(figures.outage).toMatchObject([{ protection: { shoots: 3 }, restoration: { deployments: 9 } }]);
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
  expect(text).toMatch(/\| dwd +\| 3 x 5 /);
});

it('measures other programs that take the same flags, two in turn', { timeout: 120_000 }, async () => {
  const command = `'${process.execPath}' '${launcher}'`;
  const { figures } = await run('--only', 'steady', '--target', command, '--vs', `env NODE_OPTIONS= ${command}`);
  expect(figures.steady).toMatchObject([
    { target: 'target', ...healthy },
    { target: 'other', ...healthy },
  ]);
});

it('says what a program that cannot run said, and goes on', { timeout: 60_000 }, async () => {
  const { figures, text } = await run('--only', 'steady', '--target', 'echo no such flag:');
  expect(figures.steady).toEqual([]);
  expect(text).toMatch(/not measured: target has ended \(0\); its output ends with/);
  expect(text).toMatch(/^no such flag: prober --config-file=/m);
});
