import { type CareOptions, type CareSettings, createCare } from '../../src/care/index.ts';
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
import {
  type ComponentOptions,
  type ComponentParts,
  type LeaderElectionSettings,
  createElection,
  leaseNameOf,
  runLifecycle,
} from '../../src/process/index.ts';
import { type PrometheusMeter, createLogger, createMeter } from '../../src/telemetry/index.ts';
import { type WeederSettings, weederComponent } from '../../src/weeder/index.ts';
import { createSeededRandom } from '../time/index.ts';
import type { World } from '../world/index.ts';
import {
  type ServerConnection,
  type ServerConnections,
  type TrafficListener,
  createServerConnections,
} from './server-connections.ts';
import { SimulatedProcess } from './simulated-process.ts';

/** A component as the simulation runs it: its connections to shoots are in memory. */
export interface SimulatedComponent<Settings> {
  readonly leaseName: string;
  readonly urgentInFlight: number;
  readonly runsOnStandby?: boolean;
  readonly create: (options: ComponentOptions<Settings, ProberPorts>) => ComponentParts<Settings>;
}

export const prober = (standby: Standby = 'hot'): SimulatedComponent<ProberSettings> => ({
  ...proberComponent({ standby }),
  create: (options) => createProber({ ...options, standby }),
});

export const weeder: SimulatedComponent<WeederSettings> = {
  ...weederComponent,
  create: (options) => weederComponent.create({ ...options, userAgent: 'simulation', env: {} }),
};

/** Care writes to `garden`, if there is one, and tries tunnels. */
export const care = ({ takeOver, ...ports }: CareAccess): SimulatedComponent<CareSettings> => ({
  leaseName: leaseNameOf('care'),
  urgentInFlight: 1,
  create: (options) => createCare({ ...options, takeOver, ports: { ...options.ports, ...ports } }),
});

type CareAccess = Pick<CareOptions, 'takeOver'> & Pick<CareOptions['ports'], 'garden' | 'tunnels'>;

export interface SimulatedReplicaOptions<Settings> {
  readonly settings: Settings;
  /** Default: it runs without leader election, as `identity`, and writes while `mayWrite` is true, which is always by default. */
  readonly leaderElection?: LeaderElectionSettings;
  readonly identity?: string;
  readonly mayWrite?: () => boolean;
  readonly dryRun?: boolean;
  readonly random?: Random;
  /** Default: it logs nothing. */
  readonly logger?: Logger;
  /** Rate limit of requests to the seed. Default: that of the command line's flags. */
  readonly limits?: { readonly qps: number; readonly burst: number };
  /** Lines that it shares with other processes. Default: its own. */
  readonly lines?: ServerConnections;
  /** Returns the listener of one of its own lines: to `seed`, to the shoot of that name, or to a shoot's public address (`outside/NAME`). */
  readonly listen?: (server: string) => TrafficListener | undefined;
}

/** A component as a simulated process: everything except its sockets, its HTTP servers and its configuration file. */
export interface SimulatedReplica<Settings = ProberSettings>
  extends Pick<ComponentParts<Settings>, 'status' | 'checks'> {
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

/** Starts a replica with the same policies as `runComponent`, and its parts in the same order. */
export const startReplica = <Settings>(
  component: SimulatedComponent<Settings>,
  { world, clock: trueClock }: ReplicaWorld,
  options: SimulatedReplicaOptions<Settings>,
): SimulatedReplica<Settings> => {
  const { settings, dryRun = false, random = createSeededRandom(0), limits = defaultLimits } = options;
  const { leaderElection = electionSettings(false), listen } = options;
  const { leaseName, urgentInFlight, runsOnStandby = false } = component;
  const machine = new SimulatedProcess(trueClock);
  const { clock } = machine;
  const { lines = createServerConnections({ world, clock: trueClock, listen }), logger = quietLogger(clock) } = options;
  const { seedTransport: kube, connector } = lines.transportsOf(machine);
  const meter = createMeter({ processMetrics: false });
  const writes = new WriteTracker();
  const limiter = createRateLimiter({ ...limits, urgentInFlight, clock, meter });
  const shared = { clock, random, logger };
  const electionName = dryRun ? `${leaseName}-dry-run` : leaseName;
  const election = createElection(leaderElection, electionName, { ...shared, kube, writes, runsOnStandby });
  const { identity = election.identity, mayWrite } = options;
  const parts = component.create({
    settings,
    dryRun,
    ports: {
      ...{ ...shared, meter, connector, identity },
      seed: limitedStack(kube, { clock, limiter, writes }),
      leadership: mayWrite === undefined ? election.leadership : { mayWrite },
      ...(election.leaderWatch && { leaderWatch: election.leaderWatch }),
    },
  });
  const stop = new AbortController();
  return {
    process: machine,
    seedConnection: lines.seed,
    shootConnection: (name) => lines.shoot(name),
    publicConnection: (name) => lines.publicAddress(name),
    meter,
    status: parts.status,
    checks: () => parts.checks(),
    reload: (changed) => machine.deliver(() => void parts.apply(changed)),
    stop: () => machine.deliver(() => stop.abort(new Error('SIGTERM'))),
    ended: runLifecycle({
      groups: [[parts.caches], election.runnables, [parts.controller]],
      ...{ stop: stop.signal, clock, logger },
    }),
  };
};
