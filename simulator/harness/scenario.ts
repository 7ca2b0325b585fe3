import { type ProberOptions, type ProberSettings, startProber } from '../../src/prober/index.ts';
import type { Logger } from '../../src/ports/logger.ts';
import type { Random } from '../../src/ports/random.ts';
import type { RunningComponent } from '../../src/process/index.ts';
import { type PrometheusMeter, createMeter } from '../../src/telemetry/index.ts';
import type { SimKind } from '../apiserver/index.ts';
import { type VirtualClock, createSeededRandom, createVirtualClock } from '../time/index.ts';
import { type ShootInit, type World, type WorldSource, type WorldTiming, createWorld } from '../world/index.ts';
import { type DeploymentChange, recordDeployments } from './deployment-history.ts';
import type { ServerConnection } from './server-connection.ts';
import { createServerConnections } from './server-connections.ts';
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

/** A simulated seed and, once `startProber` is called, the real prober: on one virtual clock, in one process, without sockets. */
export class Scenario {
  readonly clock: VirtualClock;
  readonly world: World;
  readonly seedConnection: ServerConnection;
  /** Changes of replicas and annotations of Deployments, in order. */
  readonly changes: readonly DeploymentChange[];
  readonly log: readonly LogRecord[];
  /** True if the prober is the leader, and so may write. */
  mayWrite = true;
  readonly #options: ScenarioOptions;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #connections: ReturnType<typeof createServerConnections>;
  #meter = createMeter({ processMetrics: false });
  #prober: RunningComponent<ProberSettings> | undefined;

  constructor(options: ScenarioOptions) {
    const { seed = 0, source = 'gardener', shoots, timing = {}, kinds } = options;
    this.#options = options;
    this.clock = createVirtualClock();
    this.#random = createSeededRandom(seed).fork('prober');
    this.world = createWorld({
      ...{ clock: this.clock, seed, source, shoots, timing },
      ...(kinds === undefined ? {} : { kinds }),
    });
    this.#connections = createServerConnections({ world: this.world, clock: this.clock });
    this.seedConnection = this.#connections.seed;
    this.changes = recordDeployments(this.world.store, this.clock);
    const { log, logger } = recordLog(this.clock, 'debug');
    this.log = log;
    this.#logger = logger;
  }

  shootConnection(name: string): ServerConnection {
    return this.#connections.shoot(name);
  }

  /** Returns the connection to the public address of the shoot's API server. */
  publicConnection(name: string): ServerConnection {
    return this.#connections.publicAddress(name);
  }

  /** Returns the meter of the prober that runs or ran last. */
  meter(): PrometheusMeter {
    return this.#meter;
  }

  /** Starts a new prober, without any state of an earlier one. */
  startProber(settings: Partial<ProberSettings> = {}, { dryRun = false }: Pick<ProberOptions, 'dryRun'> = {}): void {
    if (this.#prober !== undefined) throw new Error('a prober is running already');
    this.#meter = createMeter({ processMetrics: false });
    this.#prober = startProber({
      settings: this.#settingsWith(settings),

      dryRun,
      ports: {
        clock: this.clock,
        random: this.#random,
        logger: this.#logger,
        meter: this.#meter,
        seed: this.#connections.seedTransport,
        connector: this.#connections.connector,
        identity: 'test',
        leadership: { mayWrite: () => this.mayWrite },
      },
    });
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
    this.#prober?.apply(this.#settingsWith(settings));
  }

  /** Stops the prober as SIGTERM does, and advances the clock until it has stopped. */
  async stopProber(): Promise<void> {
    const stopping = this.#prober;
    this.#prober = undefined;
    if (stopping !== undefined) await this.clock.run(stopping.stop());
  }

  /** Stops the prober and the world, but no process that `startReplica` has started. */
  async stop(): Promise<void> {
    await this.stopProber();
    this.world.stop();
  }

  #settingsWith(settings: Partial<ProberSettings>): ProberSettings {
    return { ...gardenSettings, ...this.#options.settings, ...settings };
  }
}

export const createScenario = (options: ScenarioOptions): Scenario => new Scenario(options);
