import { WriteTracker, createRateLimiter, limitedStack } from '../../src/kubernetes/client/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Logger } from '../../src/ports/logger.ts';
import type { Random } from '../../src/ports/random.ts';
import {
  type ProberPorts,
  type ProberSettings,
  type Standby,
  createProber,
  proberComponent,
} from '../../src/prober/index.ts';
import { type LeaderElectionSettings, type Runnable, createElection, runLifecycle } from '../../src/process/index.ts';
import { type PrometheusMeter, createLogger, createMeter } from '../../src/telemetry/index.ts';
import { type WeederSettings, weederComponent } from '../../src/weeder/index.ts';
import type { World } from '../world/index.ts';
import type { ServerConnection, TrafficListener } from './server-connection.ts';
import { createServerConnections } from './server-connections.ts';
import { SimulatedProcess } from './simulated-process.ts';

export interface SimulatedReplicaOptions<Settings = ProberSettings> {
  readonly settings: Settings;
  readonly leaderElection: LeaderElectionSettings;
  readonly dryRun: boolean;
  readonly random: Random;
  /** Standby mode of a prober. Default: hot. */
  readonly standby?: Standby;
  /** Rate limit of requests to the seed. Default: that of the command line's flags. */
  readonly limits?: { readonly qps: number; readonly burst: number };
  /** Returns the listener of a line: to `seed`, to the shoot of that name, or to a shoot's public address (`outside/NAME`). */
  readonly listen?: (server: string) => TrafficListener;
}

/** `dwd prober` or `dwd weeder` as a simulated process: everything except its sockets, its HTTP servers and its configuration file. */
export interface SimulatedReplica<Settings = ProberSettings> {
  readonly process: SimulatedProcess;
  readonly seedConnection: ServerConnection;
  shootConnection(name: string): ServerConnection;
  /** Returns the line to the public address of a shoot's API server. */
  publicConnection(name: string): ServerConnection;
  readonly meter: PrometheusMeter;
  /** Applies another configuration. */
  reload(settings: Settings): void;
  /** Stops the process as SIGTERM does. */
  stop(): void;
  /** Exit code; never settles if the process is killed. */
  readonly ended: Promise<number>;
}

/** Namespace of the leader election's Lease. */
export const leaseNamespace = 'garden';

/** Settings of the leader election, with the defaults of the command line, which are client-go's. */
export const electionSettings = (enabled: boolean): LeaderElectionSettings => ({
  enabled,
  namespace: leaseNamespace,
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2_000,
});

/** Defaults of `--kube-api-qps` and `--kube-api-burst`. */
const defaultLimits = { qps: 5, burst: 10 };

const quietLogger = (clock: Clock): Logger =>
  createLogger({ level: 'panic', encoder: 'json', clock, write: () => undefined });

export interface ReplicaWorld {
  readonly world: World;
  readonly clock: Clock;
}

/** Properties in which the components differ. */
interface ReplicatedComponent<Settings> {
  readonly leaseName: string;
  readonly urgentInFlight: number;
  readonly runsOnStandby?: boolean;
  readonly create: (options: {
    readonly settings: Settings;
    readonly ports: ProberPorts;
    readonly dryRun: boolean;
  }) => { readonly caches: Runnable; readonly controller: Runnable; apply(settings: Settings): void };
}

const proberWith = (standby: Standby): ReplicatedComponent<ProberSettings> => ({
  ...proberComponent(standby),
  create: (options) => createProber({ ...options, standby }),
});
const weeder: ReplicatedComponent<WeederSettings> = {
  ...weederComponent,
  create: (options) => weederComponent.create({ ...options, userAgent: 'simulation', env: {} }),
};

/** Starts a replica with the same policies as `runComponent`, and its parts in the same order. */
const startProcess = <Settings>(
  component: ReplicatedComponent<Settings>,
  { world, clock }: ReplicaWorld,
  options: SimulatedReplicaOptions<Settings>,
): SimulatedReplica<Settings> => {
  const { settings, random, dryRun, listen, limits = defaultLimits } = options;
  const { leaseName, urgentInFlight, runsOnStandby = false } = component;
  const machine = new SimulatedProcess(clock);
  const lines = createServerConnections({ world, clock, machine, listen });
  const logger = quietLogger(machine.clock);
  const meter = createMeter({ processMetrics: false });
  const transport = lines.seedTransport;
  const writes = new WriteTracker();
  const limiter = createRateLimiter({ ...limits, urgentInFlight, clock: machine.clock, meter });
  const seed = limitedStack(transport, { clock: machine.clock, limiter, writes });
  const shared = { clock: machine.clock, random, logger };
  const electing = { ...shared, kube: transport, writes, runsOnStandby };
  const election = createElection(options.leaderElection, dryRun ? `${leaseName}-dry-run` : leaseName, electing);
  const { connector } = lines;
  const ports = {
    ...shared,
    meter,
    seed,
    connector,
    identity: election.identity,
    leadership: election.leadership,
    ...(election.leaderWatch && { leaderWatch: election.leaderWatch }),
  };
  const parts = component.create({ settings, ports, dryRun });
  const stop = new AbortController();
  return {
    process: machine,
    seedConnection: lines.seed,
    shootConnection: (name) => lines.shoot(name),
    publicConnection: (name) => lines.publicAddress(name),
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

export const startReplica = (where: ReplicaWorld, options: SimulatedReplicaOptions): SimulatedReplica =>
  startProcess(proberWith(options.standby ?? 'hot'), where, options);

export const startWeederReplica = (
  where: ReplicaWorld,
  options: SimulatedReplicaOptions<WeederSettings>,
): SimulatedReplica<WeederSettings> => startProcess(weeder, where, options);
