import { homedir } from 'node:os';
import type { Kube } from '../kubernetes/api/kube.ts';
import type { Leadership } from '../kubernetes/api/leadership.ts';
import {
  type Transport,
  createRateLimiter,
  retryThrottled,
  trackWrites,
  withRateLimit,
} from '../kubernetes/client/index.ts';
import { connectCluster } from '../kubernetes/connection/index.ts';
import { loadOperatorKubeconfig } from '../kubernetes/kubeconfig/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import type { Random } from '../ports/random.ts';
import { systemClock } from './clock.ts';
import { type Check, type MetricsSource, healthRoutes, metricsRoutes } from './endpoints.ts';
import { createHttpServer } from './http-server.ts';
import { createElection } from './leadership.ts';
import { type Runnable, runLifecycle } from './lifecycle.ts';
import { systemRandom } from './random.ts';
import type { BindAddress, ProcessOptions } from './settings.ts';

/** What a process is given to work with. */
export interface SeedPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Transport to the seed, with all its policies. */
  readonly seed: Kube;
  /** The same, for requests that change nothing though they are no GET: the Lease is released without waiting for them. */
  readonly reviews: Kube;
  readonly leadership: Leadership;
}

/** What a process does. */
export interface ProcessParts {
  /** Run in every replica: caches, and all else that writes nothing. */
  readonly standby: readonly Runnable[];
  /** Run in the replica that leads. */
  readonly leading: readonly Runnable[];
  /** Lines of `/readyz`. */
  checks(): readonly Check[];
}

export interface SeedProcessOptions {
  readonly flags: Pick<
    ProcessOptions,
    'kubeconfig' | 'qps' | 'burst' | 'metricsBindAddress' | 'healthBindAddress' | 'leaderElection'
  >;
  /** Of the Lease by which a leader is elected. */
  readonly leaseName: string;
  /** Requests to the seed that may be in flight at the same time outside of the rate limit. */
  readonly urgentInFlight: number;
  /** What the addresses of the servers are set by, for errors. Default: the flags of this program. */
  readonly addressNames?: { readonly metrics: string; readonly health: string };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly meter: Meter & MetricsSource;
  readonly userAgent: string;
  /** Aborts when the process is to stop. */
  readonly stop: AbortSignal;
  readonly start: (ports: SeedPorts) => ProcessParts;
}

/**
 * What every process that works on a seed has: its connection with its policies, servers, leader election, an orderly start and stop. Resolves
 * with the exit code, 0 after a stop and 1 after a failure, which is logged. Rejects with a KubeconfigError.
 */
export const runSeedProcess = async (options: SeedProcessOptions): Promise<number> => {
  const { flags, logger, meter, stop, leaseName, urgentInFlight, userAgent } = options;
  const { qps, burst } = flags;
  const clock = systemClock();
  const random = systemRandom();
  const transport = await connectSeed(options, { clock, userAgent });
  const limiter = createRateLimiter({ qps, burst, urgentInFlight, clock, meter });
  const writes = trackWrites(transport);
  const withPolicies = (kube: Kube): Kube => retryThrottled(withRateLimit(kube, limiter, clock), clock);
  const electionDeps = { clock, random, logger, kube: transport, writes };
  const election = createElection(flags.leaderElection, leaseName, electionDeps);
  const { leadership } = election;
  const seed = withPolicies(writes.kube);
  const parts = options.start({ clock, random, logger, meter, seed, reviews: withPolicies(transport), leadership });
  const servers = createServers(options, () => parts.checks());
  const groups = [servers, parts.standby, election.runnables, parts.leading];
  const code = await runLifecycle({ groups, stop, clock, logger });
  transport.close();
  return code;
};

interface Connecting extends Pick<SeedProcessOptions, 'env' | 'logger'> {
  readonly flags: Pick<ProcessOptions, 'kubeconfig'>;
}

/** Rejects with a KubeconfigError. */
export const connectSeed = async (
  { flags, env, logger }: Connecting,
  { clock, userAgent }: { readonly clock: Clock; readonly userAgent: string },
): Promise<Transport> => {
  const path = flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig };
  const access = await loadOperatorKubeconfig({ ...path, env, homedir, clock });
  logger.info('seed', { source: access.source, host: access.endpoint.host });
  return connectCluster({ access, clock, logger, userAgent });
};

const flagNames = { metrics: '--metrics-bind-addr', health: '--health-bind-addr' };

const createServers = (
  { flags, logger, meter, addressNames = flagNames }: SeedProcessOptions,
  checks: () => readonly Check[],
): readonly Runnable[] => {
  const at = (
    address: BindAddress | undefined,
    what: Omit<Parameters<typeof createHttpServer>[0], 'address' | 'logger'>,
  ) => (address === undefined ? [] : [createHttpServer({ ...what, address, logger })]);
  const metrics = { name: 'metrics server', flag: addressNames.metrics, routes: metricsRoutes(meter) };
  const health = { name: 'health server', flag: addressNames.health, routes: healthRoutes(checks) };
  return [...at(flags.metricsBindAddress, metrics), ...at(flags.healthBindAddress, health)];
};
