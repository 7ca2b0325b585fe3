import { type ProberSettings, startProber } from '../../src/prober/index.ts';
import type { RunningComponent } from '../../src/process/index.ts';
import { type PrometheusMeter, createLogger, createMeter } from '../../src/telemetry/index.ts';
import { type VirtualClock, createSeededRandom, createVirtualClock } from '../time/index.ts';
import { type ShootInit, type World, type WorldTiming, createWorld } from '../world/index.ts';
import { type DeploymentChange, recordDeployments } from './deployment-history.ts';
import type { Line } from './line.ts';
import { createLines } from './lines.ts';
import { gardenSettings } from './settings.ts';

export interface ScenarioOptions {
  readonly shoots: readonly ShootInit[];
  /** What differs from `gardenSettings`. */
  readonly settings?: Partial<ProberSettings>;
  readonly timing?: Partial<WorldTiming>;
  /** Decides everything that is random. Default 0. */
  readonly seed?: number | string;
}

/** A line of the prober's log. */
export type LogRecord = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string };

/** A simulated seed and the real prober on one virtual clock, in one process and without sockets. */
export interface Scenario {
  readonly clock: VirtualClock;
  readonly world: World;
  readonly seedLine: Line;
  shootLine(name: string): Line;
  /** To the shoot's API server by its public way. */
  outsideLine(name: string): Line;
  /** Changes of counts and annotations of Deployments, in order. */
  readonly changes: readonly DeploymentChange[];
  readonly log: readonly LogRecord[];
  /** Of the prober that runs or ran last. */
  meter(): PrometheusMeter;
  /** Starts a prober that knows nothing of any before. */
  startProber(settings?: Partial<ProberSettings>, options?: { readonly dryRun: boolean }): void;
  /** Gives the running prober another configuration. */
  reload(settings: Partial<ProberSettings>): void;
  /** Stops it as SIGTERM does, moving the clock as far as that takes. */
  stopProber(): Promise<void>;
  mayWrite: boolean;
  /** Stops everything but replicas. */
  stop(): Promise<void>;
}

/** Creates the world; the prober is started by `startProber`. */
export const createScenario = (options: ScenarioOptions): Scenario => {
  const { seed = 0 } = options;
  const clock = createVirtualClock();
  const random = createSeededRandom(seed).fork('prober');
  const world = createWorld({ clock, seed, shoots: options.shoots, timing: options.timing ?? {} });
  const lines = createLines({ world, clock });
  const log: LogRecord[] = [];
  const logger = createLogger({
    level: 'debug',
    encoder: 'json',
    clock,
    write: (line) => log.push(JSON.parse(line) as LogRecord),
  });
  let meter = createMeter({ processMetrics: false });
  let prober: RunningComponent<ProberSettings> | undefined;

  const stopProber = async (): Promise<void> => {
    const stopping = prober;
    prober = undefined;
    if (stopping !== undefined) await clock.run(stopping.stop());
  };

  const scenario: Scenario = {
    clock,
    world,
    seedLine: lines.seed,
    shootLine: (name) => lines.shoot(name),
    outsideLine: (name) => lines.outside(name),
    changes: recordDeployments(world.store, clock),
    log,
    meter: () => meter,
    mayWrite: true,
    startProber: (settings = {}, { dryRun } = { dryRun: false }) => {
      if (prober !== undefined) throw new Error('a prober is running already');
      meter = createMeter({ processMetrics: false });
      prober = startProber({
        settings: { ...gardenSettings, ...options.settings, ...settings },
        concurrency: 1,
        dryRun,
        ports: {
          clock,
          random,
          logger,
          meter,
          seed: lines.seedTransport,
          connector: lines.connector,
          leadership: { mayWrite: () => scenario.mayWrite },
        },
      });
    },
    reload: (settings) => prober?.apply({ ...gardenSettings, ...options.settings, ...settings }),
    stopProber,
    stop: async () => {
      await stopProber();
      world.stop();
    },
  };
  return scenario;
};
