import type { Kube } from '../kubernetes/api/kube.ts';
import { WriteTracker, createRateLimiter, limitedStack } from '../kubernetes/client/index.ts';
import type { Logger } from '../ports/logger.ts';
import type { Meter } from '../ports/meter.ts';
import { systemClock } from './clock.ts';
import type { ComponentPorts } from './component.ts';
import { type MetricsSource, healthRoutes, metricsRoutes, statusRoutes, type ReadyCheck } from './endpoints.ts';
import { createHttpServer } from './http-server.ts';
import { createElection } from './leadership.ts';
import { type Runnable, runLifecycle } from './lifecycle.ts';
import { systemRandom } from './random.ts';
import { connectElectingSeed } from './seed-connections.ts';
import type { BindAddress, ProcessOptions } from './settings.ts';

/** What a process is given to work with. */
export interface SeedPorts extends ComponentPorts {
  /** As `seed`, for requests that change nothing though they are no GET: the Lease is released without waiting for them. */
  readonly reviews: Kube;
}

/** What a process does. */
export interface ProcessParts {
  /** Run in every replica: caches, and all else that writes nothing. */
  readonly standby: readonly Runnable[];
  /** Run in the replica that leads, unless `startsBeforeLead`. */
  readonly leading: readonly Runnable[];
  /** Lines of `/readyz`. */
  checks(): readonly ReadyCheck[];
  /** What `GET /status` answers; absent: there is no such page. */
  readonly status?: (query: URLSearchParams) => object;
  /** Servers beside those of metrics and health. */
  readonly servers?: readonly Runnable[];
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
  /** `leading` runs in every replica. Default: false. */
  readonly startsBeforeLead?: boolean;
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
  const connections = await connectElectingSeed(options, { clock, userAgent });
  const limiter = createRateLimiter({ qps, burst, urgentInFlight, clock, meter });
  const writes = new WriteTracker();
  const { startsBeforeLead = false } = options;
  const electionDeps = { clock, random, logger, kube: connections.election, writes, startsBeforeLead };
  const election = createElection(flags.leaderElection, leaseName, electionDeps);
  const { identity, leadership, leaderWatch } = election;
  const seed = limitedStack(connections.seed, { clock, limiter, writes });
  const reviews = limitedStack(connections.seed, { clock, limiter });
  const parts = options.start({
    clock,
    random,
    logger,
    meter,
    seed,
    reviews,
    identity,
    leadership,
    ...(leaderWatch && { leaderWatch }),
  });
  const servers = [...createServers(options, parts), ...(parts.servers ?? [])];
  const groups = [servers, parts.standby, election.runnables, parts.leading];
  const code = await runLifecycle({ groups, stop, clock, logger });
  connections.close();
  return code;
};

const flagNames = { metrics: '--metrics-bind-addr', health: '--health-bind-addr' };

const createServers = (
  { flags, logger, meter, addressNames = flagNames }: SeedProcessOptions,
  parts: Pick<ProcessParts, 'checks' | 'status'>,
): readonly Runnable[] => {
  const at = (
    address: BindAddress | undefined,
    what: Omit<Parameters<typeof createHttpServer>[0], 'address' | 'logger'>,
  ) => (address === undefined ? [] : [createHttpServer({ ...what, address, logger })]);
  const metrics = { name: 'metrics server', flag: addressNames.metrics, routes: metricsRoutes(meter) };
  const status = parts.status === undefined ? [] : statusRoutes(parts.status);
  const routes = new Map([...healthRoutes(() => parts.checks()), ...status]);
  const health = { name: 'health server', flag: addressNames.health, routes };
  return [...at(flags.metricsBindAddress, metrics), ...at(flags.healthBindAddress, health)];
};
