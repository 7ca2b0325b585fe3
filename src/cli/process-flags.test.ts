import { readFileSync } from 'node:fs';
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
  /** Flags of our own. Beside it are the answers of the Go program to its own. */
  const own: readonly (readonly [name: string, value: string, changes: object])[] = [
    ['kubeconfig', '/some/where', { kubeconfig: '/some/where' }],
    ['kubeconfig', '', {}],
    ['context', 'seed', { context: 'seed' }],
    ['config-file', 'config.yaml', {}],
    ['dry-run', 'F', {}],
    ['strict', 'F', {}],
    ['standby', 'cold', {}],
    ['seed-name', 'eu', {}],
    ['page-bind-addr', '127.0.0.1:9645', {}],
  ];

  it('are all tested, here or beside the Go program', () => {
    const compared = readFileSync(new URL('fixtures/go-flags.json', import.meta.url), 'utf8');
    const isTested = (name: string): boolean =>
      own.some(([known]) => known === name) || new RegExp(`"--?${name}[="]`).test(compared);
    expect(Object.keys(proberFlags).filter((name) => !isTested(name))).toEqual([]);
  });

  it.each(own)('--%s=%s', async (name, value, changes) => {
    expect((await started(`--${name}=${value}`)).flags).toEqual({ ...defaults, ...changes });
  });

  const times = [
    [['10s', '10s', '2s'], 'flag --leader-elect-renew-deadline must be below --leader-elect-lease-duration'],
    [['15s', '12s', '10s'], 'flag --leader-elect-retry-period, times 1.2, must be below --leader-elect-renew-deadline'],
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

  const warningsOf = (stderr: string): readonly unknown[] =>
    logLines(stderr)
      .filter(({ level }) => level === 'warn')
      .map(({ msg }) => msg);

  it.each(times)(
    'rule 25a: lease, renew and retry of %j are refused with leader election, else a warning: %s',
    async (given, message) => {
      const elected = await timed(given, '--enable-leader-election');
      expect(elected.code).toBe(message === '' ? 7 : 2);
      if (message !== '') expect(elected.stderr).toContain(`dwd prober: ${message}\n`);
      const { code, stderr } = await timed(given);
      expect({ code, warnings: warningsOf(stderr) }).toEqual({
        code: 7,
        warnings: message === '' ? [] : [`${message}; it has no effect without --enable-leader-election`],
      });
    },
  );

  it.each([
    ['--kube-api-qps=-2', ['flag --kube-api-qps=-2 means no limit']],
    ['--kube-api-qps=nan', ['flag --kube-api-qps=NaN means no limit']],
    ['--kube-api-qps=inf', ['flag --kube-api-qps=Infinity means no limit']],
    ['--kube-api-qps=-1', []],
    ['--kube-api-burst=-1', ['flag --kube-api-burst=-1 is taken as 10, the default']],
    ['--kube-api-burst=0', []],
    ['--concurrent-reconciles=0', ['flag --concurrent-reconciles=0 is taken as 1']],
    ['--concurrent-reconciles=8', []],
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
