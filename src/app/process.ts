import { homedir } from 'node:os';
import type { LoadedConfig } from '../config/index.ts';
import type { BindAddress, ProcessOptions } from '../domain/index.ts';
import {
  connectCluster,
  createKubeClient,
  createRateLimiter,
  loadOperatorKubeconfig,
  retryThrottled,
  trackWrites,
  type Transport,
  withRateLimit,
} from '../kube/index.ts';
import type { Clock, Kube, Logger, Meter } from '../ports/index.ts';
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
import { checkRights } from './check-rights.ts';
import type { Component } from './component.ts';
import { watchConfig } from './config-watch.ts';
import { createElection } from './leadership.ts';

export interface ProcessDeps<Settings> {
  readonly settings: Settings;
  readonly flags: ProcessOptions;
  /** The settings' file, watched for changes. */
  readonly configFile: string;
  readonly readFile: (path: string) => Promise<string>;
  /** Reads the text of that file. */
  readonly load: (text: string) => LoadedConfig<Settings>;
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

/** A component as a process: everything between its settings and its exit code, which is 0 after a stop and 1 after a failure. */
export const runComponent = async <Settings>(
  component: Component<Settings>,
  deps: ProcessDeps<Settings>,
): Promise<number> => {
  const { settings, flags, logger, meter, stop } = deps;
  const { qps, burst, dryRun, concurrentReconciles: concurrency } = flags;
  const { leaseName, urgentInFlight } = component;
  const clock = systemClock();
  const random = systemRandom();
  const userAgent = `dependency-watchdog/${deps.version}`;
  const transport = await connectSeed(deps, { clock, userAgent });
  const limiter = createRateLimiter({ qps, burst, urgentInFlight, clock, meter });
  const writes = trackWrites(transport);
  const withPolicies = (kube: Kube): Kube => retryThrottled(withRateLimit(kube, limiter, clock), clock);
  const seed = withPolicies(writes.kube);
  // A rehearsal must never take the Lease from the program that protects.
  const lease = dryRun ? `${leaseName}-dry-run` : leaseName;
  const electionDeps = { clock, random, logger, kube: transport, writesEnded: writes.ended };
  const election = createElection(flags.leaderElection, lease, electionDeps);
  const ports = { clock, random, logger, meter, seed, leadership: election.leadership };
  const parts = component.create({ settings, ports, concurrency, dryRun, userAgent });
  // A review is a POST that changes nothing: the Lease is released without waiting for it.
  const client = createKubeClient({ kube: withPolicies(transport), clock });
  const { garden, neededRights: needed } = component;
  const rights = [
    checkRights({ client, clock, logger, meter, settings, needed }),
    ...(garden === undefined
      ? []
      : [checkRights({ ...deps, client: garden.client, clock, needed: garden.neededRights, cluster: 'garden' })]),
  ];
  const config = watchConfig({
    ...deps,
    path: deps.configFile,
    warnings: deps.configWarnings,
    clock,
    apply: (changed) => {
      parts.apply(changed);
      for (const check of rights) check.apply(changed);
    },
  });
  const servers = createServers(deps, () => parts.checks());
  const groups = [
    servers,
    [parts.caches, config, ...rights.map(({ runnable }) => runnable)],
    election.runnables,
    [parts.controller],
  ];
  const code = await runLifecycle({ groups, stop, clock, logger });
  transport.close();
  return code;
};

type Connecting = Pick<ProcessDeps<unknown>, 'flags' | 'env' | 'logger'>;
type Serving = Pick<ProcessDeps<unknown>, 'flags' | 'logger' | 'meter'>;

/** Rejects with a KubeconfigError. */
export const connectSeed = async (
  { flags, env, logger }: Connecting,
  { clock, userAgent }: { readonly clock: Clock; readonly userAgent: string },
): Promise<Transport> => {
  const path = flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig };
  const access = await loadOperatorKubeconfig({ ...path, env, homedir: homedir(), clock });
  logger.info('seed', { source: access.source, host: access.endpoint.host });
  return connectCluster({ access, clock, logger, userAgent });
};

const createServers = ({ flags, logger, meter }: Serving, checks: () => readonly Check[]): readonly Runnable[] => {
  const at = (
    address: BindAddress | undefined,
    what: Omit<Parameters<typeof createHttpServer>[0], 'address' | 'logger'>,
  ) => (address === undefined ? [] : [createHttpServer({ ...what, address, logger })]);
  const metrics = { name: 'metrics server', flag: '--metrics-bind-addr', routes: metricsRoutes(meter) };
  const health = { name: 'health server', flag: '--health-bind-addr', routes: healthRoutes(checks) };
  return [...at(flags.metricsBindAddress, metrics), ...at(flags.healthBindAddress, health)];
};
