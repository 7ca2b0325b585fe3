import type { Kube } from '../kubernetes/api/kube.ts';
import { WriteTracker, createRateLimiter, limitedStack } from '../kubernetes/client/index.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { PrometheusMeter } from '../telemetry/index.ts';
import { systemClock } from './clock.ts';
import type { ComponentPorts } from './component.ts';
import { type ReadStatus, type ReadyCheck, healthRoutes, metricsRoutes, statusRoutes } from './endpoints.ts';
import { createHttpServer } from './http-server.ts';
import { createElection } from './leadership.ts';
import { type Runnable, runLifecycle } from './lifecycle.ts';
import { systemRandom } from './random.ts';
import { findSeed } from './connections.ts';
import type { BindAddress, ProcessOptions } from './settings.ts';

/** Ports and clients that a process works with. */
export interface SeedPorts extends ComponentPorts {
  /** Same as `seed`, for requests other than GET that change nothing: the release of the Lease does not wait for them. */
  readonly reviews: Kube;
}

/** Parts that a process runs, and its endpoints. */
export interface ProcessParts {
  /** Runnables of every replica: caches, and all others that write nothing. */
  readonly standby: readonly Runnable[];
  /** Runnables of the leader only or, with `runsOnStandby`, of every replica. */
  readonly leading: readonly Runnable[];
  /** Lines of `/readyz`. */
  checks(): readonly ReadyCheck[];
  /** Absent if there is no such endpoint. */
  readonly status?: ReadStatus;
  /** Additional servers, besides those for metrics and health. */
  readonly servers?: readonly Runnable[];
}

export interface SeedProcessOptions {
  readonly flags: Pick<
    ProcessOptions,
    'kubeconfig' | 'context' | 'qps' | 'burst' | 'metricsBindAddress' | 'healthBindAddress' | 'leaderElection'
  >;
  /** Name of the Lease for the leader election. */
  readonly leaseName: string;
  /** Maximum number of requests to the seed in flight that the rate limit does not cover. */
  readonly urgentInFlight: number;
  /** True if `leading` runs in every replica. Default: false. */
  readonly runsOnStandby?: boolean;
  /** Names of the flags or settings that hold the servers' addresses, for errors. Default: the flags of this program. */
  readonly addressNames?: { readonly metrics: string; readonly health: string };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly meter: PrometheusMeter;
  readonly userAgent: string;
  /** Aborts when the process is to stop. */
  readonly stop: AbortSignal;
  readonly start: (ports: SeedPorts) => ProcessParts;
}

/**
 * Runs a process that works on a seed: connections and policies, servers, leader election, ordered start and stop. Resolves with the
 * exit code: 0 after a stop, 1 after a failure, which is logged. Rejects with a KubeconfigError.
 */
export const runSeedProcess = async (options: SeedProcessOptions): Promise<number> => {
  const { flags, logger, meter, stop, leaseName, urgentInFlight } = options;
  const { qps, burst } = flags;
  const clock = systemClock();
  const random = systemRandom();
  const connect = await findSeed({ ...options, clock });
  // No other request occupies the connection of the Lease, or closes it when the API server hangs on that request.
  const [transport, forLease] = [connect(), connect()];
  const limiter = createRateLimiter({ qps, burst, urgentInFlight, clock, meter });
  const writes = new WriteTracker();
  const { runsOnStandby = false } = options;
  const electionDeps = { clock, random, logger, kube: forLease, writes, runsOnStandby };
  const election = createElection(flags.leaderElection, leaseName, electionDeps);
  const { identity, leadership, leaderWatch } = election;
  const seed = limitedStack(transport, { clock, limiter, writes });
  const reviews = limitedStack(transport, { clock, limiter });
  const parts = options.start({
    clock,
    random,
    logger,
    meter,
    seed,
    reviews,
    identity,
    leadership,
    leaderWatch,
  });
  const servers = [...createServers(options, clock, parts), ...(parts.servers ?? [])];
  const groups = [servers, parts.standby, election.runnables, parts.leading];
  const code = await runLifecycle({ groups, stop, clock, logger });
  transport.close();
  forLease.close();
  return code;
};

const flagNames = { metrics: '--metrics-bind-addr', health: '--health-bind-addr' };

const createServers = (
  { flags, logger, meter, addressNames = flagNames }: SeedProcessOptions,
  clock: Clock,
  parts: Pick<ProcessParts, 'checks' | 'status'>,
): readonly Runnable[] => {
  const at = (
    address: BindAddress | undefined,
    what: Omit<Parameters<typeof createHttpServer>[0], 'address' | 'clock' | 'logger'>,
  ) => (address === undefined ? [] : [createHttpServer({ ...what, address, clock, logger })]);
  const metrics = { name: 'metrics server', flag: addressNames.metrics, routes: metricsRoutes(meter, clock) };
  const status = parts.status === undefined ? [] : statusRoutes(parts.status, clock);
  const routes = new Map([...healthRoutes(() => parts.checks()), ...status]);
  const health = { name: 'health server', flag: addressNames.health, routes };
  return [...at(flags.metricsBindAddress, metrics), ...at(flags.healthBindAddress, health)];
};
