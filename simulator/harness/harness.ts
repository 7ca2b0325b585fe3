import { type ProberOptions, type ProberSettings, startProber } from '../../src/prober/index.ts';
import type { RunningComponent } from '../../src/process/index.ts';
import { type PrometheusMeter, createMeter } from '../../src/telemetry/index.ts';
import type { SimKind } from '../apiserver/index.ts';
import { createSeededRandom, createVirtualClock } from '../time/index.ts';
import { type ShootInit, type WorldSource, type WorldTiming, createWorld } from '../world/index.ts';
import { recordDeployments } from './deployment-history.ts';
import type { ServerConnection } from './server-connection.ts';
import { createServerConnections } from './server-connections.ts';
import { recordLog } from './recorded-log.ts';
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

/** Creates a simulated seed and, once `startProber` is called, the real prober: on one virtual clock, in one process, without sockets. */
export const createScenario = (options: ScenarioOptions) => {
  const { seed = 0, source = 'gardener' } = options;
  const clock = createVirtualClock();
  const random = createSeededRandom(seed).fork('prober');
  const world = createWorld({
    ...{ clock, seed, source, shoots: options.shoots, timing: options.timing ?? {} },
    ...(options.kinds === undefined ? {} : { kinds: options.kinds }),
  });
  const lines = createServerConnections({ world, clock });
  const { log, logger } = recordLog(clock, 'debug');
  let meter = createMeter({ processMetrics: false });
  let prober: RunningComponent<ProberSettings> | undefined;

  const stopProber = async (): Promise<void> => {
    const stopping = prober;
    prober = undefined;
    if (stopping !== undefined) await clock.run(stopping.stop());
  };

  const leadership = { mayWrite: true };
  return Object.assign(leadership, {
    clock,
    world,
    seedConnection: lines.seed,
    shootConnection: (name: string): ServerConnection => lines.shoot(name),
    /** Returns the line to the public address of the shoot's API server. */
    publicConnection: (name: string): ServerConnection => lines.outside(name),
    /** Changes of replicas and annotations of Deployments, in order. */
    changes: recordDeployments(world.store, clock),
    log,
    /** Returns the meter of the prober that runs or ran last. */
    meter: (): PrometheusMeter => meter,
    /** Starts a new prober, without any state of an earlier one. */
    startProber: (
      settings: Partial<ProberSettings> = {},
      { dryRun = false, notify }: Pick<ProberOptions, 'dryRun' | 'notify'> = {},
    ): void => {
      if (prober !== undefined) throw new Error('a prober is running already');
      meter = createMeter({ processMetrics: false });
      prober = startProber({
        settings: { ...gardenSettings, ...options.settings, ...settings },
        concurrency: 1,
        dryRun,
        notify,
        ports: {
          clock,
          random,
          logger,
          meter,
          seed: lines.seedTransport,
          connector: lines.connector,
          identity: 'test',
          leadership: { mayWrite: () => leadership.mayWrite },
        },
      });
    },
    /** Returns the running prober's response to `GET /status` as a leader; with `shoot`, for that namespace alone. */
    status: (shoot?: string): unknown =>
      prober?.status?.(
        { identity: 'test', version: 'test', leads: true, missingRights: [] },
        new URLSearchParams(shoot === undefined ? {} : { shoot }),
      ),
    /** Applies another configuration to the running prober. */
    reload: (settings: Partial<ProberSettings>): void =>
      prober?.apply({ ...gardenSettings, ...options.settings, ...settings }),
    /** Stops the prober as SIGTERM does, and advances the clock until it has stopped. */
    stopProber,
    /** Stops the prober and the world, but no replicas. */
    stop: async (): Promise<void> => {
      await stopProber();
      world.stop();
    },
  });
};

export type Scenario = ReturnType<typeof createScenario>;
