import { homedir } from 'node:os';
import type { BindAddress, ProberSettings, ProcessOptions } from '../domain/index.ts';
import {
  connectCluster,
  createRateLimiter,
  createShootConnector,
  loadOperatorKubeconfig,
  retryThrottled,
  trackWrites,
  type Transport,
  withRateLimit,
} from '../kube/index.ts';
import type { Clock, Logger, Meter } from '../ports/index.ts';
import {
  type Check,
  createHttpServer,
  healthRoutes,
  metricsRoutes,
  type MetricsSource,
  type Runnable,
  runLifecycle,
  systemClock,
  systemRandom,
} from '../runtime/index.ts';
import { watchConfig } from './config-watch.ts';
import { createElection } from './leadership.ts';
import { createProber } from './prober.ts';

export interface ProcessDeps {
  readonly settings: ProberSettings;
  readonly flags: ProcessOptions;
  /** The settings' file, watched for changes. */
  readonly configFile: string;
  readonly readFile: (path: string) => Promise<string>;
  /** Oddities of that file that are no errors. */
  readonly configWarnings: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly meter: Meter & MetricsSource;
  /** Of the program, for the User-Agent. */
  readonly version: string;
  /** Aborts when the program is to stop. */
  readonly stop: AbortSignal;
}

const leaseName = 'dwd-prober-leader-election';

/** `dwd prober` as a process: everything between its settings and its exit code, which is 0 after a stop and 1 after a failure. */
export const runProber = async (deps: ProcessDeps): Promise<number> => {
  const { settings, flags, logger, meter, stop } = deps;
  const { qps, burst, dryRun, concurrentReconciles: concurrency } = flags;
  const clock = systemClock();
  const random = systemRandom();
  const userAgent = `dependency-watchdog/${deps.version}`;
  const transport = await connectSeed(deps, { clock, userAgent });
  const limiter = createRateLimiter({ qps, burst, clock, meter });
  const writes = trackWrites(transport);
  const seed = retryThrottled(withRateLimit(writes.kube, limiter, clock), clock);
  // A rehearsal must never take the Lease from the program that protects.
  const lease = dryRun ? `${leaseName}-dry-run` : leaseName;
  const electionDeps = { clock, random, logger, kube: transport, writesEnded: writes.ended };
  const election = createElection(flags.leaderElection, lease, electionDeps);
  const connector = createShootConnector({ clock, userAgent });
  const ports = { clock, random, logger, meter, seed, connector, leadership: election.leadership };
  const prober = createProber({ settings, ports, concurrency, dryRun });
  const config = watchConfig({
    ...deps,
    path: deps.configFile,
    warnings: deps.configWarnings,
    clock,
    apply: (changed) => prober.apply(changed),
  });
  const servers = createServers(deps, () => prober.checks());
  const groups = [servers, [prober.caches, config], election.runnables, [prober.controller]];
  const code = await runLifecycle({ groups, stop, clock, logger });
  transport.close();
  return code;
};

const connectSeed = async (
  { flags, env, logger }: ProcessDeps,
  { clock, userAgent }: { readonly clock: Clock; readonly userAgent: string },
): Promise<Transport> => {
  const path = flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig };
  const access = await loadOperatorKubeconfig({ ...path, env, homedir: homedir(), clock });
  logger.info('seed', { source: access.source, host: access.endpoint.host });
  return connectCluster({ access, clock, logger, userAgent });
};

const createServers = ({ flags, logger, meter }: ProcessDeps, checks: () => readonly Check[]): readonly Runnable[] => {
  const at = (
    address: BindAddress | undefined,
    what: Omit<Parameters<typeof createHttpServer>[0], 'address' | 'logger'>,
  ) => (address === undefined ? [] : [createHttpServer({ ...what, address, logger })]);
  const metrics = { name: 'metrics server', flag: '--metrics-bind-addr', routes: metricsRoutes(meter) };
  const health = { name: 'health server', flag: '--health-bind-addr', routes: healthRoutes(checks) };
  return [...at(flags.metricsBindAddress, metrics), ...at(flags.healthBindAddress, health)];
};
