import type { ProberOptions, ProberSettings } from '../../src/prober/index.ts';
import type { Logger } from '../../src/ports/logger.ts';
import type { Random } from '../../src/ports/random.ts';
import { type PrometheusMeter, createMeter } from '../../src/telemetry/index.ts';
import type { SimKind } from '../apiserver/index.ts';
import { type VirtualClock, createSeededRandom, createVirtualClock } from '../time/index.ts';
import { type ShootInit, type World, type WorldSource, type WorldTiming, createWorld } from '../world/index.ts';
import { type DeploymentChange, recordDeployments } from './deployment-history.ts';
import {
  type SimulatedComponent,
  type SimulatedReplica,
  type SimulatedReplicaOptions,
  prober,
  startReplica,
} from './replica.ts';
import { type ServerConnection, type ServerConnections, createServerConnections } from './server-connections.ts';
import { type LogRecord, recordLog } from './recorded-log.ts';
import { gardenSettings } from './settings.ts';

export interface ScenarioOptions {
  readonly shoots: readonly ShootInit[];
  /** Cluster source of the world. Default: gardener. */
  readonly source?: WorldSource;
  /** Kinds that the seed serves. Default: all of `simKinds`. */
  readonly kinds?: readonly SimKind[];
  /** Settings that differ from `gardenSettings`. */
  readonly settings?: Partial<ProberSettings>;
  readonly timing?: Partial<WorldTiming>;
  /** Seed of all random numbers. Default 0. */
  readonly seed?: number | string;
}

/** A simulated seed and the components that a test starts in it: on one virtual clock, over the same lines, with one log. */
export class Scenario {
  readonly clock: VirtualClock;
  readonly world: World;
  readonly seedConnection: ServerConnection;
  /** Changes of replicas and annotations of Deployments, in order. */
  readonly changes: readonly DeploymentChange[];
  readonly log: readonly LogRecord[];
  /** True if the components lead, and so may write. */
  mayWrite = true;
  readonly #options: ScenarioOptions;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #lines: ServerConnections;
  readonly #running = new Set<Pick<SimulatedReplica, 'stop' | 'ended'>>();
  #meter = createMeter({ processMetrics: false });
  #prober: SimulatedReplica | undefined;

  constructor(options: ScenarioOptions) {
    const { seed = 0, source = 'gardener', shoots, timing = {}, kinds } = options;
    this.#options = options;
    this.clock = createVirtualClock();
    this.#random = createSeededRandom(seed).fork('prober');
    this.world = createWorld({ clock: this.clock, seed, source, shoots, timing, kinds });
    this.#lines = createServerConnections({ world: this.world, clock: this.clock });
    this.seedConnection = this.#lines.seed;
    this.changes = recordDeployments(this.world.store, this.clock);
    const { log, logger } = recordLog(this.clock, 'debug');
    this.log = log;
    this.#logger = logger;
  }

  shootConnection(name: string): ServerConnection {
    return this.#lines.shoot(name);
  }

  /** Returns the connection to the public address of the shoot's API server. */
  publicConnection(name: string): ServerConnection {
    return this.#lines.publicAddress(name);
  }

  /** Starts a component, without any state of an earlier one. */
  start<Settings>(
    component: SimulatedComponent<Settings>,
    options: Pick<SimulatedReplicaOptions<Settings>, 'settings' | 'dryRun' | 'random' | 'logger'>,
  ): SimulatedReplica<Settings> {
    const replica = startReplica(component, this, {
      ...{ identity: 'test', logger: this.#logger, lines: this.#lines, mayWrite: () => this.mayWrite },
      ...options,
    });
    this.#running.add(replica);
    return replica;
  }

  /** Stops a component as SIGTERM does, and advances the clock until it has stopped. */
  async end(replica: Pick<SimulatedReplica, 'stop' | 'ended'>): Promise<void> {
    this.#running.delete(replica);
    replica.stop();
    await this.clock.run(replica.ended);
  }

  /** Returns the meter of the prober that runs or ran last. */
  meter(): PrometheusMeter {
    return this.#meter;
  }

  startProber(settings: Partial<ProberSettings> = {}, { dryRun }: Pick<ProberOptions, 'dryRun'> = {}): void {
    if (this.#prober !== undefined) throw new Error('a prober is running already');
    const random = this.#random;
    this.#prober = this.start(prober(), { settings: this.#settingsWith(settings), dryRun, random });
    this.#meter = this.#prober.meter;
  }

  /** Returns the running prober's response to `GET /status` as a leader; with `shoot`, for that namespace alone. */
  status(shoot?: string): unknown {
    return this.#prober?.status?.(
      { identity: 'test', version: 'test', leads: true, missingRights: [], otherInstallations: [] },
      shoot,
    );
  }

  /** Applies another configuration to the running prober. */
  reload(settings: Partial<ProberSettings>): void {
    this.#prober?.reload(this.#settingsWith(settings));
  }

  async stopProber(): Promise<void> {
    const stopping = this.#prober;
    this.#prober = undefined;
    if (stopping !== undefined) await this.end(stopping);
  }

  /** Stops the world and the components that `start` has started. */
  async stop(): Promise<void> {
    for (const replica of [...this.#running]) await this.end(replica);
    this.world.stop();
  }

  #settingsWith(settings: Partial<ProberSettings>): ProberSettings {
    return { ...gardenSettings, ...this.#options.settings, ...settings };
  }
}

export const createScenario = (options: ScenarioOptions): Scenario => new Scenario(options);
