import { type ProberOptions, type ProberSettings, startProber } from '../../src/prober/index.ts';
import type { RunningComponent } from '../../src/process/index.ts';
import { type PrometheusMeter, createMeter } from '../../src/telemetry/index.ts';
import type { SimKind } from '../apiserver/index.ts';
import { createSeededRandom, createVirtualClock } from '../time/index.ts';
import { type ShootInit, type WorldSource, type WorldTiming, createWorld } from '../world/index.ts';
import { recordDeployments } from './deployment-history.ts';
import type { ServerLine } from './line.ts';
import { createLines } from './lines.ts';
import { recordLog } from './recorded-log.ts';
import { gardenSettings } from './settings.ts';

export interface ScenarioOptions {
  readonly shoots: readonly ShootInit[];
  /** Of the world. Default: gardener. */
  readonly source?: WorldSource;
  /** What the seed serves. Default: all of `simKinds`. */
  readonly kinds?: readonly SimKind[];
  /** What differs from `gardenSettings`. */
  readonly settings?: Partial<ProberSettings>;
  readonly timing?: Partial<WorldTiming>;
  /** Decides everything that is random. Default 0. */
  readonly seed?: number | string;
}

/** A simulated seed and the real prober, once `startProber` has started it, on one virtual clock, in one process and without sockets. */
export const createScenario = (options: ScenarioOptions) => {
  const { seed = 0, source = 'gardener' } = options;
  const clock = createVirtualClock();
  const random = createSeededRandom(seed).fork('prober');
  const world = createWorld({
    ...{ clock, seed, source, shoots: options.shoots, timing: options.timing ?? {} },
    ...(options.kinds === undefined ? {} : { kinds: options.kinds }),
  });
  const lines = createLines({ world, clock });
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
    seedLine: lines.seed,
    shootLine: (name: string): ServerLine => lines.shoot(name),
    /** To the shoot's API server by its public way. */
    outsideLine: (name: string): ServerLine => lines.outside(name),
    /** Changes of counts and annotations of Deployments, in order. */
    changes: recordDeployments(world.store, clock),
    log,
    /** Of the prober that runs or ran last. */
    meter: (): PrometheusMeter => meter,
    /** Starts a prober that knows nothing of any before. */
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
    /** What the running prober answers to `GET /status`, as a leader; `shoot`: of that namespace alone. */
    status: (shoot?: string): unknown =>
      prober?.status?.(
        { identity: 'test', version: 'test', leads: true, missingRights: [] },
        new URLSearchParams(shoot === undefined ? {} : { shoot }),
      ),
    /** Gives the running prober another configuration. */
    reload: (settings: Partial<ProberSettings>): void =>
      prober?.apply({ ...gardenSettings, ...options.settings, ...settings }),
    /** Stops it as SIGTERM does, moving the clock as far as that takes. */
    stopProber,
    /** Stops everything but replicas. */
    stop: async (): Promise<void> => {
      await stopProber();
      world.stop();
    },
  });
};

export type Scenario = ReturnType<typeof createScenario>;
