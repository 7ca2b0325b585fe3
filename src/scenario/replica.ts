import { createElection, createProber } from '../app/index.ts';
import type { LeaderElectionSettings, ProberSettings } from '../domain/index.ts';
import { createRateLimiter, retryThrottled, trackWrites, withRateLimit } from '../kube/index.ts';
import type { Clock, Logger, Random } from '../ports/index.ts';
import { runLifecycle } from '../runtime/index.ts';
import type { World } from '../sim/index.ts';
import { createLogger, createMeter, type PrometheusMeter } from '../telemetry/index.ts';
import type { Line, TrafficListener } from './line.ts';
import { createLines } from './lines.ts';
import { createMachine, type Machine } from './machine.ts';

export interface ReplicaOptions {
  readonly settings: ProberSettings;
  readonly leaderElection: LeaderElectionSettings;
  readonly dryRun: boolean;
  readonly random: Random;
  /** Of requests to the seed. Default: those of the command line's flags. */
  readonly limits?: { readonly qps: number; readonly burst: number };
  /** For the line to `seed` or to the shoot of that name. */
  readonly listen?: (server: string) => TrafficListener;
}

/** `dwd prober` as a process of its own in memory: all but its sockets, its HTTP servers and its configuration file. */
export interface Replica {
  readonly machine: Machine;
  readonly seedLine: Line;
  shootLine(name: string): Line;
  readonly meter: PrometheusMeter;
  /** Gives it another configuration. */
  reload(settings: ProberSettings): void;
  /** As SIGTERM does. */
  stop(): void;
  /** Its exit code; never settles when it is killed. */
  readonly ended: Promise<number>;
}

/** Where the Lease of its leader election lives. */
export const leaseNamespace = 'garden';
export const leaseName = 'dwd-prober-leader-election';

/** Defaults of `--kube-api-qps` and `--kube-api-burst`, and what the prober sends outside of them. */
const defaultLimits = { qps: 5, burst: 10 };
const urgentInFlight = 50;

const quietLogger = (clock: Clock): Logger =>
  createLogger({ level: 'panic', encoder: 'json', clock, write: () => undefined });

/** Stacks the same policies as `runComponent` and starts the parts in the same order. */
export const startReplica = (
  { world, clock }: { readonly world: World; readonly clock: Clock },
  options: ReplicaOptions,
): Replica => {
  const { settings, random, dryRun, listen, limits = defaultLimits } = options;
  const machine = createMachine(clock);
  const lines = createLines({ world, clock, machine, ...(listen === undefined ? {} : { listen }) });
  const logger = quietLogger(machine.clock);
  const meter = createMeter({ processMetrics: false });
  const transport = lines.seedTransport;
  const writes = trackWrites(transport);
  const limiter = createRateLimiter({ ...limits, urgentInFlight, clock: machine.clock, meter });
  const seed = retryThrottled(withRateLimit(writes.kube, limiter, machine.clock), machine.clock);
  const shared = { clock: machine.clock, random, logger };
  const electing = { ...shared, kube: transport, writesEnded: writes.ended };
  const election = createElection(options.leaderElection, dryRun ? `${leaseName}-dry-run` : leaseName, electing);
  const { connector } = lines;
  const ports = { ...shared, meter, seed, connector, leadership: election.leadership };
  const parts = createProber({ settings, ports, concurrency: 1, dryRun });
  const stop = new AbortController();
  return {
    machine,
    seedLine: lines.seed,
    shootLine: (name) => lines.shoot(name),
    meter,
    reload: (changed) => machine.deliver(() => parts.apply(changed)),
    stop: () => machine.deliver(() => stop.abort(new Error('SIGTERM'))),
    ended: runLifecycle({
      groups: [[parts.caches], election.runnables, [parts.controller]],
      stop: stop.signal,
      clock: machine.clock,
      logger,
    }),
  };
};
