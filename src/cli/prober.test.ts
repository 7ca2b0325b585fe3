import { describe, expect, it } from 'vitest';
import { KubeconfigError } from '../kubernetes/api/errors.ts';
import type { ProberDeps } from './prober.ts';
import { dwd, dwdWith, logLines } from './testing/dwd.ts';

const prober = (...flags: readonly string[]) => dwd('prober', '--config-file=config.yaml', ...flags);

const metricsOf = async (meter: ProberDeps['meter']): Promise<string> => {
  let text = '';
  for await (const one of meter.metricsTexts()) text += one;
  return text;
};

describe('dwd prober', () => {
  it('passes its settings and flags to the component and returns its exit code', async () => {
    const { code, stdout, stderr, started, listens } = await prober();
    expect({ code, stdout, listens, runs: started.length }).toEqual({ code: 7, stdout: '', listens: true, runs: 1 });
    const { settings, configFile, readFile, env, stop, version } = started[0]!;
    expect(configFile).toBe('config.yaml');
    expect(await readFile(configFile)).toContain('kubeConfigSecretName: probe');
    expect(settings).toMatchObject({ kubeConfigSecretName: 'probe' });
    expect(env).toEqual({ KUBECONFIG: 'somewhere' });
    expect(version).toBe('dev');
    expect(stop.aborted).toBe(false);
    expect(started[0]!.configWarnings).toBe(0);
    // A reload is compared with these fields.
    expect(started[0]!.given).toMatchObject({ kubeConfigSecretName: 'probe' });
    expect(logLines(stderr)).toMatchObject([
      {
        level: 'info',
        msg: 'starting the prober',
        configuration: { probeIntervalMs: 10_000, kubeConfigSecretName: 'probe' },
      },
    ]);
  });

  it('logs the path of its kubeconfig, and why a kubeconfig cannot be used', async () => {
    const argv = ['prober', '--config-file=config.yaml', '--kubeconfig=/some/where'];
    const { code, stderr } = await dwdWith(async () => {
      throw new KubeconfigError('users[0].user.exec', 'is refused');
    }, argv);
    expect(code).toBe(1);
    expect(logLines(stderr)).toMatchObject([
      { options: { kubeconfigFile: '/some/where' } },
      { level: 'error', msg: 'kubeconfig: users[0].user.exec: is refused' },
    ]);
  });

  it('rejects with a bug of the component', async () => {
    const bug = dwdWith(async () => Promise.reject(new TypeError('oops')), ['prober', '--config-file=config.yaml']);
    await expect(bug).rejects.toThrow(new TypeError('oops'));
  });

  it('marks every line and all metrics of a dry run', async () => {
    const { stderr, started } = await prober('--dry-run');
    expect(logLines(stderr)).toMatchObject([
      { msg: 'starting the prober', dryRun: true },
      { level: 'warn', msg: expect.stringMatching(/^dry run: nothing is written; /) as string, dryRun: true },
    ]);
    const { meter } = started[0]!;
    meter.counter({ name: 'dwd_x_total', help: 'x', labels: ['a'] }).inc({ a: 'b' });
    const text = await metricsOf(meter);
    expect(text).toContain('dwd_x_total{a="b",dry_run="true"} 1\n');
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(series.filter((line) => !line.includes('dry_run="true"'))).toEqual([]);
    const real = await prober();
    expect(real.stderr).not.toMatch(/dry.run:/i);
    expect(await metricsOf(real.started[0]!.meter)).toContain('dwd_dry_run 0\n');
  });

  it('warns about unknown fields of the configuration and runs', async () => {
    const { code, stderr, started } = await dwd('prober', '-config-file', 'odd.yaml');
    expect(code).toBe(7);
    expect(logLines(stderr).filter(({ level }) => level === 'warn')).toMatchObject([
      {
        msg: expect.stringMatching(/^configuration: typo is an unknown field; known fields: /) as string,
        column: 1,
      },
    ]);
    expect(started[0]!.configWarnings).toBe(1);
  });

  it('does not run with unknown fields with --strict', async () => {
    const { code, stderr, started } = await dwd('prober', '--config-file=odd.yaml', '--strict');
    expect({ code, started }).toEqual({ code: 1, started: [] });
    const problem = expect.stringMatching(/typo: is an unknown field/) as string;
    expect(logLines(stderr)).toMatchObject([{ msg: 'the configuration is not valid', problems: [problem] }]);
  });

  it('logs every error of the configuration and does not run', async () => {
    const { code, stdout, stderr, started } = await dwd('prober', '--config-file=bad.yaml');
    expect({ code, stdout, started }).toEqual({ code: 1, stdout: '', started: [] });
    expect(logLines(stderr)).toMatchObject([
      {
        level: 'error',
        msg: 'the configuration is not valid',
        problems: [
          expect.stringMatching(/^bad\.yaml:2:16: probeInterval: must be .*, found 10$/),
          expect.stringMatching(/^bad\.yaml:6:22: dependentResourceInfos\[0\]\.scaleUp\.level: must be .*, found -2$/),
        ],
      },
    ]);
  });

  it('logs why it cannot read the configuration', async () => {
    // The reason is logged at every level.
    const { code, stderr, listens } = await dwd('prober', '--config-file=absent.yaml', '--zap-log-level=panic');
    expect({ code, listens }).toEqual({ code: 1, listens: true });
    expect(logLines(stderr)).toMatchObject([
      { level: 'error', msg: 'cannot read --config-file absent.yaml: no such file or directory' },
    ]);
  });
});
