import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { ProcessOptions } from '../domain/index.ts';
import { type CliIo, type RunProberOptions, runCli } from './index.ts';
import { processFlags } from './process-flags.ts';

const example = readFileSync(fileURLToPath(new URL('../../examples/prober-config.yaml', import.meta.url)), 'utf8');

const config = `kubeConfigSecretName: probe
probeInterval: 10s
kcmNodeMonitorGraceDuration: 40s
dependentResourceInfos:
  - ref: {apiVersion: apps/v1, kind: Deployment, name: kube-controller-manager}
    scaleUp: {level: 2}
`;

const files: Readonly<Record<string, string>> = {
  'example.yaml': example,
  'config.yaml': config,
  'odd.yaml': `${config}successThreshold: 1\n`,
  'bad.yaml': config.replace('10s', '10').replace('level: 2', 'level: -2'),
  'manifest.yaml': `kind: ConfigMap\ndata:\n  config.yaml: |\n${config.replace(/^(?=.)/gm, '    ')}    typo: 1\n`,
  'warned.yaml': config.replace(/^kcm.*\n/m, ''),
  '-': 'kubeConfigSecretName: probe\n',
};

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly started: readonly RunProberOptions[];
  /** Whether signals stop the program in order. */
  readonly listens: boolean;
}

const dwd = async (...argv: readonly string[]): Promise<Outcome> => {
  const started: RunProberOptions[] = [];
  const [out, err]: [string[], string[]] = [[], []];
  let listens = false;
  const io: CliIo = {
    argv,
    env: { KUBECONFIG: 'somewhere' },
    nodeVersion: 'v24.0.0',
    stdout: (text) => out.push(text),
    stderr: (text) => err.push(text),
    readFile: async (path) => files[path] ?? Promise.reject(new Error('no such file or directory')),
    stopOnSignals: () => {
      listens = true;
      return new AbortController().signal;
    },
    reportCrashesTo: () => undefined,
  };
  const code = await runCli(io, {
    runProber: async (options) => {
      started.push(options);
      return 7;
    },
  });
  return { code, stdout: out.join(''), stderr: err.join(''), started, listens };
};

const prober = (...flags: readonly string[]) => dwd('prober', '--config-file=config.yaml', ...flags);

const started = async (...flags: readonly string[]): Promise<RunProberOptions> => {
  const { started, stderr } = await prober(...flags);
  if (started.length !== 1) throw new Error(`not started: ${stderr}`);
  return started[0]!;
};

const logLines = (stderr: string) =>
  stderr
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const defaults: ProcessOptions = {
  qps: 5,
  burst: 10,
  concurrentReconciles: 1,
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

describe('help', () => {
  it.each([['help'], ['--help'], ['-h'], ['-help']])('dwd %s goes to stdout', async (arg) => {
    const { code, stdout, stderr } = await dwd(arg);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: dwd COMMAND/);
    for (const command of ['prober', 'validate', 'version', 'help']) {
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    }
  });

  it.each([
    [['help', 'prober']],
    [['prober', '--help']],
    [['prober', '-h']],
    [['prober', '-help']],
    [['prober', '--dry-run', '-h']],
  ])('dwd %j prints the help of the prober', async (argv) => {
    const { code, stdout, stderr } = await dwd(...argv);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe((await dwd('help', 'prober')).stdout);
    for (const name of Object.keys(processFlags)) expect(stdout).toContain(`  --${name} `);
  });

  it.each([[], ['prober'], ['validate'], ['version'], ['help']])(
    'of %j is as it was and fits into 80 columns',
    async (...names) => {
      const { stdout } = await dwd('help', ...names);
      expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
      await expect(stdout).toMatchFileSnapshot(`fixtures/help-${names[0] ?? 'all'}.txt`);
    },
  );

  it('dwd alone prints the usage to stderr', async () => {
    const { code, stdout, stderr } = await dwd();
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe((await dwd('help')).stdout);
  });

  it('dwd help NONSENSE does not know it', async () => {
    const { code, stdout, stderr } = await dwd('help', 'nonsense');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'dwd help: there is no command "nonsense"\n\nUsage: dwd help [COMMAND]\nRun "dwd help help" for more.\n',
    );
  });
});

describe('version', () => {
  it('prints version, commit and Node version', async () => {
    expect(await dwd('version')).toMatchObject({
      code: 0,
      stdout: 'dwd dev, commit unknown, Node v24.0.0\n',
      stderr: '',
    });
  });
});

describe('wrong command lines', () => {
  it.each([
    [['nonsense'], "dwd: unknown command 'nonsense'", 'Usage: dwd COMMAND [flags]'],
    [['--config-file=x'], "dwd: unknown flag '--config-file=x'", 'Usage: dwd COMMAND [flags]'],
    [['prober'], 'dwd prober: flag --config-file is required; it takes the path of the configuration file'],
    [
      ['prober', '--config-file='],
      'dwd prober: flag --config-file takes the path of the configuration file; it was given ""',
    ],
    [
      ['prober', '--config-file'],
      'dwd prober: flag --config-file needs a value; it takes the path of the configuration file',
    ],
    [['prober', '--config-file=x', '--kube-api-qsp=3'], "dwd prober: unknown flag '--kube-api-qsp=3'"],
    [['prober', '-nonsense'], "dwd prober: unknown flag '--nonsense'"],
    [
      ['prober', '--config-file=x', 'y'],
      "dwd prober: too many arguments for 'prober'. Expected 0 arguments but got 1.",
    ],
    [['prober', '--config-file=x', '--dry-run', 'maybe'], "dwd prober: too many arguments for 'prober'"],
    [['version', 'x'], "dwd version: too many arguments for 'version'"],
    [['version', '--x'], "dwd version: unknown flag '--x'"],
    [['validate', 'config.yaml'], 'dwd validate: flag --component is required; it takes prober'],
    [['validate', '--component=prober'], "dwd validate: missing required argument 'FILE'"],
    [['validate', '--component=weeder', 'x'], 'dwd validate: flag --component takes prober; it was given "weeder"'],
  ])('%j: %s', async (argv, message, usage = `Usage: dwd ${argv[0] ?? ''} `) => {
    const { code, stdout, stderr, started } = await dwd(...argv);
    expect({ code, stdout, started }).toEqual({ code: 2, stdout: '', started: [] });
    expect(stderr.slice(0, message.length)).toBe(message);
    expect(stderr).toContain(`\n\n${usage}`);
  });
});

describe('flags of the prober', () => {
  it('have the defaults of the Go program', async () => {
    expect((await started()).flags).toEqual(defaults);
  });

  const election = (changes: object) => ({ leaderElection: { ...defaults.leaderElection, ...changes } });

  const good: readonly (readonly [name: string, value: string, changes: object])[] = [
    ['kubeconfig', '/some/where', { kubeconfig: '/some/where' }],
    ['kubeconfig', '', {}],
    ['kube-api-qps', '20.0', { qps: 20 }],
    ['kube-api-qps', '0.5', { qps: 0.5 }],
    ['kube-api-qps', '0', { qps: 5 }],
    ['kube-api-qps', '-0', { qps: 5 }],
    ['kube-api-burst', '100', { burst: 100 }],
    ['kube-api-burst', '0', { burst: 10 }],
    ['concurrent-reconciles', '8', { concurrentReconciles: 8 }],
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
    ['pprof-bind-addr', 'anything', {}],
    ['zap-devel', 'nonsense', {}],
    ['zap-stacktrace-level', '', {}],
    ['zap-time-encoding', 'iso8601', {}],
  ];

  it('are all tried here', () => {
    const tried = new Set([...good.map(([name]) => name), 'config-file']);
    expect([...tried].toSorted()).toEqual(Object.keys(processFlags).toSorted());
  });

  it.each(good)('--%s=%s', async (name, value, changes) => {
    const expected = JSON.parse(JSON.stringify({ ...defaults, ...changes })) as unknown;
    expect((await started(`--${name}=${value}`)).flags).toEqual(expected);
    expect((await started(`-${name}=${value}`)).flags).toEqual(expected);
    // Only what Go takes for a boolean is the value of a boolean flag when it stands apart.
    if (name === 'zap-devel') return;
    expect((await started(`--${name}`, value)).flags).toEqual(expected);
    expect((await started(`-${name}`, value)).flags).toEqual(expected);
  });

  it.each([
    ['kube-api-qps', '-1', 'a number >= 0'],
    ['kube-api-qps', 'many', 'a number >= 0'],
    ['kube-api-burst', '-1', 'a whole number >= 0'],
    ['kube-api-burst', '1.5', 'a whole number >= 0'],
    ['concurrent-reconciles', '0', 'a whole number >= 1'],
    ['metrics-bind-addr', '9643', 'an address such as :9643, 127.0.0.1:9643 or [::1]:9643, or 0 to turn it off'],
    ['health-bind-addr', ':x', 'an address such as :9643, 127.0.0.1:9643 or [::1]:9643, or 0 to turn it off'],
    ['enable-leader-election', 'yes', 'true or false (also t, f, 1, 0), or no value for true'],
    ['leader-election-namespace', '', 'the name of a namespace'],
    ['leader-elect-lease-duration', '15', 'a duration > 0 with a unit, such as 15s, 1m30s or 300ms'],
    ['leader-elect-renew-deadline', '0s', 'a duration > 0 with a unit, such as 15s, 1m30s or 300ms'],
    ['leader-elect-retry-period', '-2s', 'a duration > 0 with a unit, such as 15s, 1m30s or 300ms'],
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

  it('take the last of several values', async () => {
    expect((await started('--kube-api-qps=1', '--kube-api-qps=2')).flags.qps).toBe(2);
  });

  it.each([
    [['10s', '10s', '2s'], '--leader-elect-renew-deadline must be below --leader-elect-lease-duration'],
    [['10s', '11s', '2s'], '--leader-elect-renew-deadline must be below --leader-elect-lease-duration'],
    [['15s', '12s', '10s'], '--leader-elect-retry-period, times 1.2, must be below --leader-elect-renew-deadline'],
    [['15s', '12s', '11s'], '--leader-elect-retry-period, times 1.2, must be below --leader-elect-renew-deadline'],
    [['15s', '12s', '9.99s'], ''],
  ])('rule 25a: lease, renew and retry of %j: %s', async ([lease, renew, retry], message) => {
    const { code, stderr } = await prober(
      `--leader-elect-lease-duration=${lease}`,
      `--leader-elect-renew-deadline=${renew}`,
      `--leader-elect-retry-period=${retry}`,
    );
    expect(code).toBe(message === '' ? 7 : 2);
    if (message !== '') expect(stderr).toContain(`dwd prober: flag ${message}\n`);
  });

  it.each([
    ['--dry-run'],
    ['--dry-run=T'],
    ['-dry-run'],
    ['--enable-leader-election'],
    ['--enable-leader-election=true'],
  ])('%s is refused while this version cannot do it', async (flag) => {
    const { code, stdout, stderr, started } = await prober(flag);
    expect({ code, stdout, started }).toEqual({ code: 1, stdout: '', started: [] });
    expect(stderr).toMatch(
      /^dwd prober: --(dry-run|enable-leader-election) is not available in this version: .+; not starting.*\n$/,
    );
  });
});

describe('dwd prober', () => {
  it('hands everything over and returns the exit code of what it runs', async () => {
    const { code, stdout, stderr, started, listens } = await prober();
    expect({ code, stdout, listens, runs: started.length }).toEqual({ code: 7, stdout: '', listens: true, runs: 1 });
    const { settings, env, meter, stop, version } = started[0]!;
    expect(settings).toMatchObject({ kubeConfigSecretName: 'probe' });
    expect(env).toEqual({ KUBECONFIG: 'somewhere' });
    expect(version).toBe('dev');
    expect(stop.aborted).toBe(false);
    expect(await meter.metricsText()).toContain('dwd_config_warnings 0');
    expect(logLines(stderr)).toMatchObject([
      {
        level: 'info',
        msg: 'starting the prober',
        configuration: { probeIntervalMs: 10_000, kubeConfigSecretName: 'probe' },
      },
    ]);
  });

  it('warns once about all flags without effect', async () => {
    const { stderr } = await prober('--zap-devel', '--pprof-bind-addr', ':1', '--zap-stacktrace-level=error');
    expect(logLines(stderr).filter(({ level }) => level === 'warn')).toMatchObject([
      { flags: ['--pprof-bind-addr', '--zap-devel', '--zap-stacktrace-level'] },
    ]);
  });

  it('warns about the oddities of the configuration and runs', async () => {
    const { code, stderr, started } = await dwd('prober', '-config-file', 'odd.yaml');
    expect(code).toBe(7);
    expect(logLines(stderr).filter(({ level }) => level === 'warn')).toMatchObject([
      {
        msg: expect.stringMatching(/^configuration: successThreshold is an unknown field; known here: /) as string,
        column: 1,
      },
    ]);
    expect(await started[0]!.meter.metricsText()).toContain('dwd_config_warnings 1');
  });

  it('tells every error of the configuration and does not run', async () => {
    const { code, stdout, stderr, started } = await dwd('prober', '--config-file=bad.yaml');
    expect({ code, stdout, started }).toEqual({ code: 1, stdout: '', started: [] });
    expect(stderr).toMatch(
      /^dwd prober: the configuration is not valid\nbad\.yaml:2:16: probeInterval: must be .*, found 10\nbad\.yaml:6:22: dependentResourceInfos\[0\]\.scaleUp\.level: must be .*, found -2\n$/,
    );
  });

  it('says why it cannot read the configuration', async () => {
    const { code, stderr } = await dwd('prober', '--config-file=absent.yaml');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'dwd prober: cannot read --config-file absent.yaml: no such file or directory\n',
    });
  });

  it.each([
    ['panic', ''],
    ['error', ''],
    ['INFO', 'starting the prober'],
    ['3', 'starting the prober'],
  ])('logs at level %s', async (level, expected) => {
    const { stderr } = await prober(`--zap-log-level=${level}`);
    expect(
      logLines(stderr)
        .map(({ msg }) => msg)
        .join(),
    ).toBe(expected);
  });

  it('logs for people', async () => {
    const { stderr } = await prober('--zap-encoder=console');
    expect(stderr).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z INFO {2}starting the prober version=dev configFile=config.yaml /);
  });
});

describe('dwd validate', () => {
  it.each([
    [['config.yaml'], 0, ''],
    [['example.yaml', 'config.yaml'], 0, ''],
    [['odd.yaml'], 1, 'odd.yaml:7:1: successThreshold: is an unknown field; known here: '],
    [['manifest.yaml'], 1, 'manifest.yaml:10:5: data["config.yaml"].typo: is an unknown field; known here: '],
    [['-'], 1, '-:1:1: dependentResourceInfos: is required: '],
    [['--', 'config.yaml'], 0, ''],
  ] as const)('%j exits with %i', async (names, code, start) => {
    const outcome = await dwd('validate', '--component', 'prober', ...names);
    expect({ code: outcome.code, stderr: outcome.stderr }).toEqual({ code, stderr: '' });
    expect(outcome.stdout.slice(0, start.length)).toBe(start);
    if (start === '') expect(outcome.stdout).toBe('');
  });

  it('goes on after a bad file and after one that cannot be read', async () => {
    const { code, stdout, stderr } = await dwd(
      'validate',
      '-component=prober',
      'absent.yaml',
      'bad.yaml',
      'config.yaml',
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'dwd validate: cannot read absent.yaml: no such file or directory\n',
    });
    expect(stdout.match(/^bad\.yaml:\d+:\d+: /gm)).toHaveLength(2);
  });

  it('allows warnings', async () => {
    const { code, stdout } = await dwd('validate', '--component=prober', 'warned.yaml');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^warned\.yaml:1:1: kcmNodeMonitorGraceDuration: warning: is not set and taken to be 40s/);
  });
});
