import { type RunningComponent, startProber } from '../app/index.ts';
import type { ProberSettings } from '../domain/index.ts';
import { parseUntrustedKubeconfig, staticCredentials, withCredentials } from '../kube/index.ts';
import type { Kube, ShootConnector } from '../ports/index.ts';
import {
  createSeededRandom,
  createVirtualClock,
  createWorld,
  type FaultRule,
  type RequestCounts,
  type ShootInit,
  type VirtualClock,
  withCounting,
  withFaults,
  type World,
  type WorldServer,
  type WorldTiming,
} from '../sim/index.ts';
import { createLogger, createMeter, type PrometheusMeter } from '../telemetry/index.ts';
import { type DeploymentChange, recordDeployments } from './deployment-history.ts';
import { createMemoryConnector } from './memory-connector.ts';
import { gardenSettings } from './settings.ts';

export interface ScenarioOptions {
  readonly shoots: readonly ShootInit[];
  /** What differs from `gardenSettings`. */
  readonly settings?: Partial<ProberSettings>;
  readonly timing?: Partial<WorldTiming>;
  /** Decides everything that is random. Default 0. */
  readonly seed?: number | string;
}

/** The prober's way to one API server: what it asked, and what goes wrong on the way. */
export interface Line {
  readonly requests: RequestCounts;
  /** Connections opened so far; the seed's are not counted. */
  connections(): number;
  /** Asked for each request; undefined ends the faults. */
  setFaults(rule: FaultRule | undefined): void;
}

/** A line of the prober's log. */
export type LogRecord = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string };

/** A simulated seed and the real prober on one virtual clock, in one process and without sockets. */
export interface Scenario {
  readonly clock: VirtualClock;
  readonly world: World;
  readonly seedLine: Line;
  shootLine(name: string): Line;
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
  /** Stops everything. */
  stop(): Promise<void>;
}

const createLine = (api: WorldServer, clock: VirtualClock): Line & { readonly kube: Kube; onConnect(): void } => {
  let rule: FaultRule | undefined;
  let connections = 0;
  const kube = withCounting(withFaults(api.kube, { clock, rule: (request) => rule?.(request) }));
  return {
    kube,
    requests: kube.counts,
    connections: () => connections,
    onConnect: () => {
      connections += 1;
    },
    setFaults: (next) => {
      rule = next;
    },
  };
};

/** Creates the world; the prober is started by `startProber`. */
export const createScenario = (options: ScenarioOptions): Scenario => {
  const { seed = 0 } = options;
  const clock = createVirtualClock();
  const random = createSeededRandom(seed).fork('prober');
  const world = createWorld({ clock, seed, shoots: options.shoots, timing: options.timing ?? {} });
  const { authorization } = parseUntrustedKubeconfig(world.api.kubeconfig());
  const seedLine = createLine(world.api, clock);
  const lines = new Map<string, ReturnType<typeof createLine>>();
  const log: LogRecord[] = [];
  const logger = createLogger({
    level: 'debug',
    encoder: 'json',
    clock,
    write: (line) => log.push(JSON.parse(line) as LogRecord),
  });
  let meter = createMeter({ processMetrics: false });
  let prober: RunningComponent<ProberSettings> | undefined;

  const lineOf = (api: WorldServer): ReturnType<typeof createLine> => {
    const { url } = api.address();
    const line = lines.get(url) ?? createLine(api, clock);
    lines.set(url, line);
    return line;
  };

  const connector: ShootConnector = createMemoryConnector({
    clock,
    resolve: (url) => {
      const shoot = world.shoots.find(({ api }) => api.address().url === url);
      return shoot === undefined ? undefined : lineOf(shoot.api).kube;
    },
    onConnect: (url) => lines.get(url)?.onConnect(),
  });

  const stopProber = async (): Promise<void> => {
    const stopping = prober;
    prober = undefined;
    if (stopping !== undefined) await clock.run(stopping.stop());
  };

  const scenario: Scenario = {
    clock,
    world,
    seedLine,
    shootLine: (name) => lineOf(world.shoot(name).api),
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
          seed: withCredentials(seedLine.kube, staticCredentials(authorization)),
          connector,
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
