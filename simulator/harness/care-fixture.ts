import { type CareSettings, careConfig, startCare } from '../../src/care/index.ts';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { TunnelTarget } from '../../src/kubernetes/api/tunnel-connection.ts';
import { createRateLimiter, retryThrottled, withRateLimit } from '../../src/kubernetes/client/index.ts';
import { startProber } from '../../src/prober/index.ts';
import { type PrometheusMeter, createLogger, createMeter } from '../../src/telemetry/index.ts';
import { type SimApiServer, createSimApiServer, careSeedKinds as seedKinds } from '../apiserver/index.ts';
import { type CountingKube, type FaultRule, withCounting, withFaults } from '../network/index.ts';
import { type VirtualClock, createSeededRandom, createVirtualClock } from '../time/index.ts';
import { gardenKinds } from './care-kinds.ts';
import { type CareShootFixture, createCareShoot, gardenNamespace, observeDeployments } from './care-shoot.ts';
import type { LogRecord } from './healthcheck-fixture.ts';
import { withManagedFields } from './managed-fields.ts';
import { createMemoryConnector } from './memory-connector.ts';
import { gardenSettings } from './settings.ts';

export interface CareStart {
  readonly settings?: Partial<CareSettings>;
  readonly takeOver?: boolean;
  readonly dryRun?: boolean;
  readonly withoutGarden?: boolean;
  /** Requests per second to the garden, with bursts of 10; absent: as many as care likes. */
  readonly gardenQps?: number;
}

/** Care against a seed, a garden and shoots in memory, on virtual time. */
export interface CareFixture {
  readonly clock: VirtualClock;
  readonly seed: SimApiServer;
  readonly garden: SimApiServer;
  /** Requests to each, of care and of whoever else is there. */
  readonly requests: {
    readonly seed: CountingKube['counts'];
    readonly garden: CountingKube['counts'];
    shoot(name: string): CountingKube['counts'];
  };
  readonly log: readonly LogRecord[];
  readonly meter: PrometheusMeter;
  /** Connections tried through tunnels. */
  readonly tunnelled: readonly TunnelTarget[];
  /** Replaces what a try of a tunnel does. */
  tunnel: (target: TunnelTarget, signal: AbortSignal) => Promise<void>;
  addShoot(name: string, nodes?: number): CareShootFixture;
  /** Who has written the Shoot in the garden, as its `managedFields` say. */
  setWriters(shoot: CareShootFixture, entries: readonly object[]): void;
  setFaults(where: 'seed' | 'garden' | CareShootFixture, rule: FaultRule | undefined): void;
  start(options?: CareStart): void;
  startProber(): void;
  /** Stops what was started and waits for it. */
  stop(): Promise<void>;
}

const defaultSettings = (): CareSettings => {
  const { settings } = careConfig.load('{}', { unknownFields: 'error' });
  if (settings === undefined) throw new Error('an empty configuration of care is refused');
  return settings;
};

export const createCareFixture = (): CareFixture => {
  const clock = createVirtualClock();
  const random = createSeededRandom(0);
  const seed = createSimApiServer({ clock, kinds: seedKinds });
  const garden = createSimApiServer({ clock, kinds: gardenKinds });
  const log: LogRecord[] = [];
  const meter = createMeter({ processMetrics: false });
  const logger = createLogger({
    level: 'info',
    encoder: 'json',
    clock,
    write: (line) => log.push(JSON.parse(line) as LogRecord),
  });
  const rules = new Map<string, FaultRule | undefined>();
  const lineTo = (name: string, api: SimApiServer): CountingKube =>
    withCounting(withFaults(api, { clock, rule: (request) => rules.get(name)?.(request) }));
  const seedLine = lineTo('seed', seed);
  observeDeployments(seed);
  const writers = withManagedFields(lineTo('garden', garden));
  const gardenLine = withCounting(writers);
  const shootLines = new Map<string, CountingKube>();
  const connector = createMemoryConnector({ clock, resolve: (url) => shootLines.get(url), onConnect: () => undefined });
  const tunnelled: TunnelTarget[] = [];
  const ended: (() => Promise<unknown>)[] = [];

  const limitedTo = (qps: number): Kube => {
    const limiter = createRateLimiter({ qps, burst: 10, clock, meter, cluster: 'garden' });
    return retryThrottled(withRateLimit(gardenLine, limiter, clock), clock);
  };

  const fixture: CareFixture = {
    clock,
    seed,
    garden,
    requests: {
      seed: seedLine.counts,
      garden: gardenLine.counts,
      shoot: (name) => {
        const line = shootLines.get(`https://${name}.sim`);
        if (line === undefined) throw new Error(`there is no shoot ${name}`);
        return line.counts;
      },
    },
    log,
    meter,
    tunnelled,
    tunnel: async () => undefined,
    addShoot: (name, nodes = 5) => {
      const shoot = createCareShoot({ clock, seed, garden, name, nodes });
      shootLines.set(shoot.url, lineTo(shoot.url, shoot.api));
      return shoot;
    },
    setWriters: ({ name }, entries) =>
      writers.set(`/apis/core.gardener.cloud/v1beta1/namespaces/${gardenNamespace}/shoots/${name}`, entries),
    setFaults: (where, rule) => void rules.set(typeof where === 'string' ? where : where.url, rule),
    start: ({ settings = {}, takeOver = false, dryRun = false, withoutGarden = false, gardenQps } = {}) => {
      const limited = gardenQps === undefined ? gardenLine : limitedTo(gardenQps);
      const care = startCare({
        settings: { ...defaultSettings(), ...settings },
        takeOver,
        dryRun,
        ports: {
          clock,
          random,
          logger,
          meter,
          seed: seedLine,
          garden: withoutGarden ? undefined : limited,
          leadership: { mayWrite: () => true },
          connector,
          tunnels: {
            connect: async (_, target, signal) => {
              tunnelled.push(target);
              await fixture.tunnel(target, signal);
            },
          },
        },
      });
      ended.push(() => care.stop());
    },
    startProber: () => {
      const prober = startProber({
        settings: gardenSettings,
        concurrency: 1,
        ports: {
          clock,
          random: random.fork('prober'),
          logger,
          meter: createMeter({ processMetrics: false }),
          seed: seedLine,
          connector,
          leadership: { mayWrite: () => true },
        },
      });
      ended.push(() => prober.stop());
    },
    stop: async () => {
      await clock.run(Promise.all(ended.map((end) => end())));
    },
  };
  return fixture;
};
