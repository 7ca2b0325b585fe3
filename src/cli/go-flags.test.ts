import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { formatGoDuration } from '../kubernetes/api/duration.ts';
import { formatBindAddress } from '../process/bind-address.ts';
import type { BindAddress, ProcessOptions } from '../process/settings.ts';
import type { ProberDeps } from './prober.ts';
import { dwdWith } from './testing/dwd.ts';

/** What is in force in a component that runs. */
interface Effective {
  readonly logLevel: string;
  /** Absent where nothing is logged. */
  readonly logEncoder?: string;
  /** `unlimited`, or a number. */
  readonly qps: string;
  /** Absent without limit. */
  readonly burst?: number;
  readonly metrics: string;
  readonly health: string;
  readonly leaderElection?: Readonly<Record<string, string>>;
  /** Arguments after the flags. */
  readonly ignored?: readonly string[];
}

interface Answer {
  readonly args: readonly string[];
  /** Why it does not run. */
  readonly refused?: string;
  readonly effective?: Effective;
}

/** Command lines, each with the recorded answer of a manager of controller-runtime that was started as the Go program starts it. */
const table = JSON.parse(readFileSync(new URL('fixtures/go-flags.json', import.meta.url), 'utf8')) as readonly Answer[];

const defaults: Effective = {
  logLevel: 'info',
  logEncoder: 'json',
  qps: '5',
  burst: 10,
  metrics: ':9643',
  health: ':9644',
};

/** Command lines to which we give another answer on purpose; undefined where only we refuse. docs/dev/go-program.md names each. */
const onPurpose: Readonly<Record<string, Effective | undefined>> = {
  // controller-runtime sends no request with this, so no installation that works has it.
  '--kube-api-burst=-1': defaults,
  '--kube-api-qps=0x1p4': undefined,
  // controller-runtime has a default of its own for metrics (:8080), and none for health.
  '--metrics-bind-addr=': defaults,
  '--health-bind-addr=': defaults,
  // In Go a boolean takes its value only with "=".
  '--enable-leader-election false': defaults,
  '--zap-log-level=0': defaults,
  // An int8 for zap, -(200) is the level 56: nothing is logged.
  '--zap-log-level=200': { ...defaults, logLevel: 'debug' },
  '--zap-devel=yes': defaults,
  '--zap-devel --zap-stacktrace-level=panic --zap-time-encoding=rfc3339nano --pprof-bind-addr=127.0.0.1:0': defaults,
};

const addressOf = (address: BindAddress | undefined): string =>
  address === undefined ? 'none' : formatBindAddress(address);

const electionOf = ({ leaderElection }: ProcessOptions): Effective['leaderElection'] =>
  leaderElection.enabled
    ? {
        namespace: leaderElection.namespace,
        leaseDuration: formatGoDuration(leaderElection.leaseDurationMs),
        renewDeadline: formatGoDuration(leaderElection.renewDeadlineMs),
        retryPeriod: formatGoDuration(leaderElection.retryPeriodMs),
      }
    : undefined;

const logAll = async ({ logger }: ProberDeps): Promise<number> => {
  logger.error('at error');
  logger.info('at info');
  logger.debug('at debug');
  return 7;
};

const loggingIn = (stderr: string): Pick<Effective, 'logLevel' | 'logEncoder'> => {
  const logLevel = ['debug', 'info', 'error'].find((level) => stderr.includes(`at ${level}`));
  if (logLevel === undefined) return { logLevel: 'panic' };
  return { logLevel, logEncoder: stderr.startsWith('{') ? 'json' : 'console' };
};

/** Runs the prober with the command line; undefined if it is refused. */
const effectiveOf = async (args: readonly string[]): Promise<Effective | undefined> => {
  const { code, stderr, started } = await dwdWith(logAll, ['prober', ...args]);
  const options = started[0]?.flags;
  if (options === undefined) {
    expect([1, 2]).toContain(code);
    return undefined;
  }
  const ignored = /"arguments":(\[[^\]]*\])/.exec(stderr)?.[1];
  return {
    ...loggingIn(stderr),
    qps: options.qps === Infinity ? 'unlimited' : String(options.qps),
    burst: options.qps === Infinity ? undefined : options.burst,
    metrics: addressOf(options.metricsBindAddress),
    health: addressOf(options.healthBindAddress),
    leaderElection: electionOf(options),
    ignored: ignored === undefined ? undefined : (JSON.parse(ignored) as string[]),
  };
};

describe('a command line has the same effect as with the Go program', () => {
  const rows = table.map((answer) => ({
    ...answer,
    line: answer.args.join(' ').replace('--config-file=config.yaml ', ''),
  }));

  it.each(rows)('$line', async ({ args, line, effective }) => {
    expect(await effectiveOf(args)).toEqual(Object.hasOwn(onPurpose, line) ? onPurpose[line] : effective);
  });

  it('except for those that differ on purpose', () => {
    for (const line of Object.keys(onPurpose)) expect(rows.map((row) => row.line)).toContain(line);
  });
});
