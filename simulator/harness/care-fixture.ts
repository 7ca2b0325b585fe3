import { type CareSettings, careConfig, startCare } from '../../src/care/index.ts';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { TunnelTarget } from '../../src/kubernetes/api/tunnel-connection.ts';
import { createRateLimiter, limitedStack } from '../../src/kubernetes/client/index.ts';
import type { Logger } from '../../src/ports/logger.ts';
import { startProber } from '../../src/prober/index.ts';
import { createMeter } from '../../src/telemetry/index.ts';
import { type SimApiServer, careSeedKinds, createSimApiServer } from '../apiserver/index.ts';
import { type CountingKube, type FaultRule, withCounting, withFaults } from '../network/index.ts';
import { createSeededRandom, createVirtualClock } from '../time/index.ts';
import { gardenKinds } from './care-kinds.ts';
import { type CareShootFixture, createCareShoot, gardenNamespace, observeDeployments } from './care-shoot.ts';
import { withManagedFields } from './managed-fields.ts';
import { createMemoryConnector } from './memory-connector.ts';
import { type LogRecord, recordLog } from './recorded-log.ts';
import { gardenSettings } from './settings.ts';

export interface CareStart {
  readonly settings?: Partial<CareSettings>;
  readonly takeOver?: boolean;
  readonly dryRun?: boolean;
  readonly withoutGarden?: boolean;
  /** Requests per second to the garden, with bursts of 10; absent: no limit. */
  readonly gardenQps?: number;
}

const defaultSettings = (): CareSettings => {
  const { settings } = careConfig.load('{}', { unknownFields: 'error' });
  if (settings === undefined) throw new Error('an empty configuration of care is refused');
  return settings;
};

/** Runs care against a seed, a garden and shoots in memory, on virtual time. */
export class CareFixture {
  readonly clock = createVirtualClock();
  readonly seed = createSimApiServer({ clock: this.clock, kinds: careSeedKinds });
  readonly garden = createSimApiServer({ clock: this.clock, kinds: gardenKinds });
  readonly meter = createMeter({ processMetrics: false });
  readonly log: readonly LogRecord[];
  /** Targets of the connections that were tried through tunnels. */
  readonly tunnelled: TunnelTarget[] = [];
  /** Connects through a tunnel. Tests replace it. */
  tunnel: (target: TunnelTarget, signal: AbortSignal) => Promise<void> = async () => undefined;
  readonly #logger: Logger;
  readonly #random = createSeededRandom(0);
  readonly #rules = new Map<string, FaultRule | undefined>();
  readonly #seedConnection = this.#lineTo('seed', this.seed);
  readonly #writers = withManagedFields(this.#lineTo('garden', this.garden));
  readonly #gardenLine = withCounting(this.#writers);
  readonly #shootLines = new Map<string, CountingKube>();
  readonly #connector = createMemoryConnector({
    clock: this.clock,
    resolve: (url) => this.#shootLines.get(url),
    onConnect: () => undefined,
  });
  readonly #ended: (() => Promise<unknown>)[] = [];
  /** Request counts of each API server: those of care, and of the prober if it runs. */
  readonly requests = {
    seed: this.#seedConnection.counts,
    garden: this.#gardenLine.counts,
    shoot: (name: string): CountingKube['counts'] => {
      const line = this.#shootLines.get(`https://${name}.sim`);
      if (line === undefined) throw new Error(`there is no shoot ${name}`);
      return line.counts;
    },
  };

  constructor() {
    const { log, logger } = recordLog(this.clock, 'info');
    this.log = log;
    this.#logger = logger;
    observeDeployments(this.seed);
  }

  addShoot(name: string, nodes = 5): CareShootFixture {
    const shoot = createCareShoot({ clock: this.clock, seed: this.seed, garden: this.garden, name, nodes });
    this.#shootLines.set(shoot.url, this.#lineTo(shoot.url, shoot.api));
    return shoot;
  }

  /** Sets the `managedFields` of the Shoot in the garden. */
  setWriters({ name }: CareShootFixture, entries: readonly object[]): void {
    this.#writers.set(`/apis/core.gardener.cloud/v1beta1/namespaces/${gardenNamespace}/shoots/${name}`, entries);
  }

  setFaults(where: 'seed' | 'garden' | CareShootFixture, rule: FaultRule | undefined): void {
    this.#rules.set(typeof where === 'string' ? where : where.url, rule);
  }

  start({ settings = {}, takeOver = false, dryRun = false, withoutGarden = false, gardenQps }: CareStart = {}): void {
    const care = startCare({
      settings: { ...defaultSettings(), ...settings },
      takeOver,
      dryRun,
      ports: {
        ...this.#ports(),
        random: this.#random,
        meter: this.meter,
        garden: withoutGarden ? undefined : this.#limitedGarden(gardenQps),
        tunnels: {
          connect: async (_, target, signal) => {
            this.tunnelled.push(target);
            await this.tunnel(target, signal);
          },
        },
      },
    });
    this.#ended.push(() => care.stop());
  }

  startProber(): void {
    const random = this.#random.fork('prober');
    const ports = { ...this.#ports(), random, meter: createMeter({ processMetrics: false }) };
    const prober = startProber({ settings: gardenSettings, ports });
    this.#ended.push(() => prober.stop());
  }

  /** Stops all started components and waits for their end. */
  async stop(): Promise<void> {
    await this.clock.run(Promise.all(this.#ended.map((end) => end())));
  }

  #lineTo(name: string, api: SimApiServer): CountingKube {
    const rule: FaultRule = (request) => this.#rules.get(name)?.(request);
    return withCounting(withFaults(api, { clock: this.clock, rule }));
  }

  #limitedGarden(qps: number | undefined): Kube {
    const { clock, meter } = this;
    if (qps === undefined) return this.#gardenLine;
    const limiter = createRateLimiter({ qps, burst: 10, clock, meter, cluster: 'garden' });
    return limitedStack(this.#gardenLine, { clock, limiter });
  }

  /** Returns the ports that care and the prober have in common. */
  #ports() {
    return {
      clock: this.clock,
      logger: this.#logger,
      seed: this.#seedConnection,
      connector: this.#connector,
      identity: 'test',
      leadership: { mayWrite: () => true },
    };
  }
}
