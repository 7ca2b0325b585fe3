import { describe, expect, it } from 'vitest';
import type { PreflightReport, PreflightRun } from '../preflight/index.ts';
import { dwdWith } from './testing/dwd.ts';

const never = async (): Promise<never> => expect.unreachable('no component runs');

const preflight = async (argv: readonly string[], report: PreflightReport = { checks: [], exitCode: 0 }) => {
  const runs: PreflightRun[] = [];
  const outcome = await dwdWith(never, ['preflight', ...argv], {
    runPreflight: async (run) => {
      runs.push(run);
      return report;
    },
  });
  return { ...outcome, runs };
};

describe('dwd preflight', () => {
  it('checks all shoots and the rights of the prober by default', async () => {
    const { code, runs } = await preflight(['--config-file=example.yaml']);
    expect(code).toBe(0);
    expect(runs).toMatchObject([
      {
        configFile: 'example.yaml',
        configWarnings: [],
        settings: { nodeMonitorGraceMs: 40_000 },
        rightsOf: { namespace: 'garden', name: 'dwd-prober' },
        shoot: undefined,
        shootApiServers: true,
        timeoutMs: 120_000,
      },
    ]);
  });

  it('accepts a shoot, another subject of rights, and no API servers of shoots', async () => {
    const argv = ['--config-file=example.yaml', '--shoot=dev/one', '--shoot-api-servers=false', '--rights-of'];
    expect((await preflight([...argv, 'none'])).runs).toMatchObject([
      { shoot: 'dev/one', shootApiServers: false, rightsOf: 'none' },
    ]);
    expect((await preflight([...argv, 'self'])).runs).toMatchObject([{ rightsOf: 'self' }]);
    expect((await preflight([...argv, 'a/b.c'])).runs).toMatchObject([{ rightsOf: { namespace: 'a', name: 'b.c' } }]);
  });

  it.each(['x', 'a/b/c', 'a/', '/b', 'A/b', 'a/-b'])('refuses the rights of %j', async (word) => {
    const { code, stderr, runs } = await preflight(['--config-file=example.yaml', `--rights-of=${word}`]);
    expect({ code, runs }).toEqual({ code: 2, runs: [] });
    expect(stderr).toContain('--rights-of takes the NAMESPACE/NAME of a ServiceAccount, self or none');
  });

  it('passes on warnings about the file, and does not start with an invalid one', async () => {
    const { runs } = await preflight(['--config-file=odd.yaml']);
    expect(runs[0]?.configWarnings).toEqual([expect.stringMatching(/^odd\.yaml:\d+:1: typo: warning: /)]);
    const bad = await preflight(['--config-file=bad.yaml']);
    expect(bad).toMatchObject({ code: 1, runs: [], stdout: '' });
    expect(bad.stderr).toMatch(/^dwd preflight: the configuration is not valid\nbad\.yaml:\d+:\d+: probeInterval: /);
    expect(await preflight(['--config-file=none.yaml'])).toMatchObject({
      code: 1,
      stderr: 'dwd preflight: cannot read --config-file none.yaml: no such file or directory\n',
    });
  });

  it.each([0, 1, 2] as const)('exits with %d, the exit code of the report', async (exitCode) => {
    const { code, stdout } = await preflight(['--config-file=example.yaml'], { checks: [], exitCode });
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: '0 checks: \n' });
  });
});
