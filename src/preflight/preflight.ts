import { KubeconfigError } from '../kubernetes/api/errors.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import { createKubeconfigCache, createShootConnector, withShootPolicy } from '../kubernetes/connection/index.ts';
import { type OperatorAccess, type OperatorCluster, onOperatorCluster } from '../process/index.ts';
import { type PreflightCheck, type SeedRead, statusOf } from './checks/check.ts';
import { checkAll, checkConfig } from './checks/check-all.ts';
import { type SeedAnswer, checkSeed } from './checks/seed.ts';
import { type PreflightReadOptions, readAll } from './read.ts';
import { NoSuchShoot } from '../status/state/find-shoot.ts';
import { readVersion } from './read-seed.ts';

export interface PreflightRun extends OperatorAccess, PreflightReadOptions {
  /** Name of the configuration file, and its warnings, a line each. */
  readonly configFile: string;
  readonly configWarnings: readonly string[];
  /** Timeout of the whole preflight, in milliseconds. */
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

/** 0: all checks passed. 1: a check failed or has a warning. 2: no check failed, but some could not be made. */
export type PreflightExitCode = 0 | 1 | 2;

export interface PreflightReport {
  /** Checks, in the order of the headings. */
  readonly checks: readonly PreflightCheck[];
  readonly exitCode: PreflightExitCode;
}

const exitCodeOf = (checks: readonly PreflightCheck[]): PreflightExitCode => {
  const statuses = new Set(checks.map(statusOf));
  if (statuses.has('failed') || statuses.has('warning')) return 1;
  return statuses.has('unknown') ? 2 : 0;
};

const reportOf = (checks: readonly PreflightCheck[]): PreflightReport => ({ checks, exitCode: exitCodeOf(checks) });

/** Reports a seed that does not respond. All other checks are omitted. */
const outOfReach = (seed: SeedRead<SeedAnswer>): PreflightReport => ({ checks: checkSeed(seed), exitCode: 2 });

const checkSeedWith = async (run: PreflightRun, cluster: OperatorCluster): Promise<PreflightReport> => {
  const { client, clock, userAgent } = cluster;
  const reader = { client, clock, signal: run.stop, deadline: clock.monotonic() + run.timeoutMs };
  run.progress('connecting to the seed');
  const seed = await readVersion(reader);
  if (!seed.ok) return outOfReach(seed);
  const connector = withShootPolicy(
    createShootConnector({ clock, userAgent, known: createKubeconfigCache(run) }),
    run.settings,
  );
  const observation = await readAll(run, seed.value, { reader, connector });
  return reportOf([checkConfig(run.configFile, run.configWarnings), ...checkAll(observation)]);
};

/** Runs `dwd preflight`: reads a seed and its shoots, and writes nothing. The error is the reason why there is no report. */
export const runPreflight = async (run: PreflightRun): Promise<Result<PreflightReport, string>> => {
  try {
    return { ok: true, value: await onOperatorCluster(run, (cluster) => checkSeedWith(run, cluster)) };
  } catch (error) {
    if (run.stop.aborted) return { ok: false, error: 'interrupted before all checks were made' };
    if (error instanceof KubeconfigError) {
      return { ok: true, value: outOfReach({ ok: false, error: { code: 'seed-unreachable', detail: error.message } }) };
    }
    if (error instanceof NoSuchShoot) return { ok: false, error: error.message };
    throw error;
  }
};
