import { describe, expect, it } from 'vitest';
import type { ProberSettings } from '../prober/config/settings.ts';
import type { ProcessDeps } from '../process/run-component.ts';
import type { ProcessOptions } from '../process/settings.ts';
import { proberFlags } from './prober.ts';
import { dwd, dwdWith, logLines } from './testing/dwd.ts';

const prober = (...flags: readonly string[]) => dwd('prober', '--config-file=config.yaml', ...flags);

const started = async (...flags: readonly string[]): Promise<ProcessDeps<ProberSettings>> => {
  const { started, stderr } = await prober(...flags);
  if (started.length !== 1) throw new Error(`not started: ${stderr}`);
  return started[0]!;
};

const defaults: ProcessOptions = {
  qps: 5,
  burst: 10,
  metricsBindAddress: { host: '', port: 9643 },
  healthBindAddress: { host: '', port: 9644 },
  leaderElection: {
    enabled: false,
    namespace: 'garden',
    leaseDurationMs: 15_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
  },
  dryRun: false,
};

describe('flags of the prober', () => {
  it('have the defaults of the Go program', async () => {
    expect((await started()).flags).toEqual(defaults);
  });

  const election = (changes: object) => ({ leaderElection: { ...defaults.leaderElection, ...changes } });

  const good: readonly (readonly [name: string, value: string, changes: object])[] = [
    ['kubeconfig', '/some/where', { kubeconfig: '/some/where' }],
    ['kubeconfig', '', {}],
    ['context', 'seed', { context: 'seed' }],
    ['kube-api-qps', '20.0', { qps: 20 }],
    ['kube-api-qps', '0.5', { qps: 0.5 }],
    ['kube-api-qps', '0', { qps: 5 }],
    ['kube-api-qps', '-0', { qps: 5 }],
    ['kube-api-burst', '100', { burst: 100 }],
    ['kube-api-burst', '0', { burst: 10 }],
    ['concurrent-reconciles', '8', {}],
    ['metrics-bind-addr', '[::1]:8080', { metricsBindAddress: { host: '::1', port: 8080 } }],
    ['metrics-bind-addr', '0', { metricsBindAddress: undefined }],
    ['health-bind-addr', '127.0.0.1:0', { healthBindAddress: { host: '127.0.0.1', port: 0 } }],
    ['health-bind-addr', '0', { healthBindAddress: undefined }],
    ['enable-leader-election', 'false', {}],
    ['leader-election-namespace', 'kube-system', election({ namespace: 'kube-system' })],
    ['leader-elect-lease-duration', '1m', election({ leaseDurationMs: 60_000 })],
    ['leader-elect-renew-deadline', '2.5s', election({ renewDeadlineMs: 2_500 })],
    ['leader-elect-retry-period', '100ms', election({ retryPeriodMs: 100 })],
    ['zap-log-level', 'DEBUG', {}],
    ['zap-encoder', 'console', {}],
    ['dry-run', 'F', {}],
    ['strict', 'F', {}],
    ['standby', 'cold', {}],
    ['page-bind-addr', '127.0.0.1:9645', {}],
    ['pprof-bind-addr', 'anything', {}],
    ['zap-devel', 'nonsense', {}],
    ['zap-stacktrace-level', '', {}],
    ['zap-time-encoding', 'iso8601', {}],
  ];

  it('are all tested here', () => {
    const tried = new Set([...good.map(([name]) => name), 'config-file']);
    expect([...tried].toSorted()).toEqual(Object.keys(proberFlags).toSorted());
  });

  it.each(good)('--%s=%s', async (name, value, changes) => {
    const expected = JSON.parse(JSON.stringify({ ...defaults, ...changes })) as unknown;
    expect((await started(`--${name}=${value}`)).flags).toEqual(expected);
    expect((await started(`-${name}=${value}`)).flags).toEqual(expected);
    // A separate argument is the value of a boolean flag only if Go accepts it as a boolean.
    if (name === 'zap-devel') return;
    expect((await started(`--${name}`, value)).flags).toEqual(expected);
    expect((await started(`-${name}`, value)).flags).toEqual(expected);
  });

  it.each([
    ['kube-api-qps', 'many', 'a number'],
    ['kube-api-burst', '1.5', 'a whole number'],
    ['concurrent-reconciles', 'few', 'a whole number'],
    ['metrics-bind-addr', '9643', 'an address such as :9643, 127.0.0.1:9643 or [::1]:9643, or 0 to turn it off'],
    ['health-bind-addr', ':x', 'an address such as :9643, 127.0.0.1:9643 or [::1]:9643, or 0 to turn it off'],
    ['enable-leader-election', 'yes', 'true or false (also t, f, 1, 0), or no value for true'],
    ['leader-elect-lease-duration', '15', 'a duration with a unit, such as 15s, 1m30s or 300ms'],
    ['leader-elect-renew-deadline', '', 'a duration with a unit, such as 15s, 1m30s or 300ms'],
    ['zap-log-level', 'loud', 'debug, info, error, panic, or a verbosity >= 0 (above 0 is debug)'],
    ['zap-encoder', 'xml', 'json or console'],
    ['dry-run', '2', 'true or false (also t, f, 1, 0), or no value for true'],
  ])('--%s=%s is refused', async (name, value, takes) => {
    for (const dash of ['-', '--']) {
      const { code, stdout, stderr, started } = await prober(`${dash}${name}=${value}`);
      expect({ code, stdout, started }).toEqual({ code: 2, stdout: '', started: [] });
      expect(stderr).toMatch(/\n\nUsage: dwd prober --config-file <path> \[flags\]\n/);
      expect(stderr.split('\n')[0]).toBe(`dwd prober: flag --${name} takes ${takes}; it was given "${value}"`);
    }
  });

  it.each(['--kube-api-qps=-1', '-kube-api-qps=-1.0'])('%s means no limit', async (arg) => {
    expect((await started(arg)).flags.qps).toBe(Number.POSITIVE_INFINITY);
    expect((await started('--kube-api-qps', '-1')).flags.qps).toBe(Number.POSITIVE_INFINITY);
  });

  it('take the last of several values', async () => {
    expect((await started('--kube-api-qps=1', '--kube-api-qps=2')).flags.qps).toBe(2);
  });

  const times = [
    [['10s', '10s', '2s'], 'flag --leader-elect-renew-deadline must be below --leader-elect-lease-duration'],
    [['10s', '11s', '2s'], 'flag --leader-elect-renew-deadline must be below --leader-elect-lease-duration'],
    [['15s', '12s', '10s'], 'flag --leader-elect-retry-period, times 1.2, must be below --leader-elect-renew-deadline'],
    [['15s', '12s', '11s'], 'flag --leader-elect-retry-period, times 1.2, must be below --leader-elect-renew-deadline'],
    [['15s', '12s', '0s'], 'flag --leader-elect-retry-period must be above 0'],
    [['15s', '12s', '9.99s'], ''],
  ] as const;

  const timed = ([lease, renew, retry]: readonly [string, string, string], ...flags: readonly string[]) =>
    prober(
      `--leader-elect-lease-duration=${lease}`,
      `--leader-elect-renew-deadline=${renew}`,
      `--leader-elect-retry-period=${retry}`,
      ...flags,
    );

  it.each(times)('rule 25a: lease, renew and retry of %j with leader election: %s', async (given, message) => {
    const { code, stderr } = await timed(given, '--enable-leader-election');
    expect(code).toBe(message === '' ? 7 : 2);
    if (message !== '') expect(stderr).toContain(`dwd prober: ${message}\n`);
  });

  const warningsOf = (stderr: string): readonly unknown[] =>
    logLines(stderr)
      .filter(({ level }) => level === 'warn')
      .map(({ msg }) => msg);

  it.each(times)('lease, renew and retry of %j without leader election: a warning', async (given, message) => {
    const { code, stderr } = await timed(given);
    expect({ code, warnings: warningsOf(stderr) }).toEqual({
      code: 7,
      warnings: message === '' ? [] : [`${message}; it has no effect without --enable-leader-election`],
    });
  });

  it.each([
    ['--kube-api-qps=-2', ['flag --kube-api-qps=-2 means no limit']],
    ['--kube-api-qps=nan', ['flag --kube-api-qps=NaN means no limit']],
    ['--kube-api-qps=inf', ['flag --kube-api-qps=Infinity means no limit']],
    ['--kube-api-qps=-1', []],
    ['--kube-api-burst=-1', ['flag --kube-api-burst=-1 is taken as 10, the default']],
    ['--kube-api-burst=0', []],
    ['--concurrent-reconciles=0', []],
    ['--zap-devel -zap-time-encoding=x --pprof-bind-addr=', ['flags of the Go program have no effect']],
  ])('%s: the warnings %j', async (flags, warnings) => {
    const { code, stderr } = await prober(...flags.split(' '));
    expect({ code, warnings: warningsOf(stderr) }).toEqual({ code: 7, warnings });
  });

  it('an empty namespace of the Lease is that of the pod', async () => {
    const { code, stderr } = await prober('--enable-leader-election', '--leader-election-namespace=');
    const file = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
    expect({ code, log: logLines(stderr) }).toMatchObject({
      code: 1,
      log: [
        {
          level: 'error',
          msg: `flag --leader-election-namespace is empty, and ${file} cannot be read: no such file or directory`,
        },
      ],
    });
    const { started } = await dwdWith(
      async () => 7,
      ['prober', '--config-file=config.yaml', '--enable-leader-election', '--leader-election-namespace='],
      { files: { [file]: 'kube-system\n' } },
    );
    expect(started[0]?.flags.leaderElection.namespace).toBe('kube-system');
  });
});
