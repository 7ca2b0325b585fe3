import {
  createRateLimiter,
  retryThrottled,
  staticCredentials,
  withCredentials,
  withRateLimit,
} from '../../../src/kubernetes/client/index.ts';
import { parseUntrustedKubeconfig } from '../../../src/kubernetes/kubeconfig/index.ts';
import type { Check, RunningComponent } from '../../../src/process/index.ts';
import { type PrometheusMeter, createLogger, createMeter } from '../../../src/telemetry/index.ts';
import { type WeederSettings, startWeeder, weederComponent } from '../../../src/weeder/index.ts';
import { type VirtualClock, createSeededRandom, createVirtualClock } from '../../time/index.ts';
import { type ShootInit, type World, createWorld } from '../../world/index.ts';
import { type Line, createLine } from '../line.ts';
import { type Kubelet, startKubelet } from './kubelet.ts';

/** A line of the weeder's log. */
export type LogRecord = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string };

export const weederSettings: WeederSettings = {
  watchDurationMs: 300_000,
  services: [
    {
      name: 'etcd-main-client',
      podSelectors: [{ matchLabels: { role: 'apiserver' }, matchExpressions: [] }],
    },
    {
      name: 'kube-apiserver',
      podSelectors: [
        {
          matchLabels: { 'gardener.cloud/role': 'controlplane' },
          matchExpressions: [{ key: 'role', operator: 'NotIn', values: ['main', 'apiserver'] }],
        },
      ],
    },
  ],
};

/** A simulated seed and the real weeder behind the rate limits of the real program, on one virtual clock, without sockets. */
export interface WeederFixture {
  readonly clock: VirtualClock;
  readonly world: World;
  /** The test's hand on pods and EndpointSlices. */
  readonly kubelet: Kubelet;
  readonly line: Line;
  readonly log: readonly LogRecord[];
  /** Of the log, the lines with this message. */
  told(message: string): readonly LogRecord[];
  meter(): PrometheusMeter;
  /** Lines of `/readyz`. */
  checks(): readonly Check[];
  start(settings?: Partial<WeederSettings>, options?: { readonly dryRun: boolean }): void;
  reload(settings: Partial<WeederSettings>): void;
  stopWeeder(): Promise<void>;
  mayWrite: boolean;
  stop(): Promise<void>;
}

/** Defaults of `--kube-api-qps` and `--kube-api-burst`, and the bound of the weeder's own lane. */
const limits = { qps: 5, burst: 10, urgentInFlight: weederComponent.urgentInFlight };

export const createWeederFixture = (shoots: readonly ShootInit[] = []): WeederFixture => {
  const clock = createVirtualClock();
  const world = createWorld({ clock, shoots });
  const line = createLine(world.api, { clock });
  const { authorization } = parseUntrustedKubeconfig(world.api.kubeconfig());
  const log: LogRecord[] = [];
  const write = (text: string): void => void log.push(JSON.parse(text) as LogRecord);
  const logger = createLogger({ level: 'debug', encoder: 'json', clock, write });
  let meter = createMeter({ processMetrics: false });
  let weeder: RunningComponent<WeederSettings> | undefined;

  const stopWeeder = async (): Promise<void> => {
    const stopping = weeder;
    weeder = undefined;
    if (stopping !== undefined) await clock.run(stopping.stop());
  };

  const fixture: WeederFixture = {
    clock,
    world,
    kubelet: startKubelet(world.store, clock),
    line,
    log,
    told: (message) => log.filter(({ msg }) => msg === message),
    meter: () => meter,
    checks: () => weeder?.checks() ?? [],
    mayWrite: true,
    start: (settings = {}, { dryRun } = { dryRun: false }) => {
      if (weeder !== undefined) throw new Error('a weeder is running already');
      meter = createMeter({ processMetrics: false });
      const limiter = createRateLimiter({ ...limits, clock, meter });
      const transport = withCredentials(line.kube, staticCredentials(authorization));
      weeder = startWeeder({
        settings: { ...weederSettings, ...settings },
        concurrency: 1,
        dryRun,
        ports: {
          clock,
          random: createSeededRandom(0).fork('weeder'),
          logger,
          meter,
          seed: retryThrottled(withRateLimit(transport, limiter, clock), clock),
          leadership: { mayWrite: () => fixture.mayWrite },
        },
      });
    },
    reload: (settings) => weeder?.apply({ ...weederSettings, ...settings }),
    stopWeeder,
    stop: async () => {
      await stopWeeder();
      world.stop();
    },
  };
  return fixture;
};
