import { type CareSettings, careConfig } from '../../src/care/index.ts';
import { heartbeatLeaseName } from '../../src/gardener/extensions.ts';
import type { Kube } from '../../src/kubernetes/api/kube.ts';
import type { TunnelTarget } from '../../src/kubernetes/api/tunnel-connection.ts';
import { createRateLimiter, limitedStack } from '../../src/kubernetes/client/index.ts';
import { createMeter } from '../../src/telemetry/index.ts';
import {
  type SimApiServer,
  type SimKind,
  type SimObject,
  asMap,
  careSeedKinds,
  createSimApiServer,
  extensionKinds,
  formatMicroTime,
  simKinds,
} from '../apiserver/index.ts';
import { type FaultRule, withCounting, withFaults } from '../network/index.ts';
import type { VirtualClock } from '../time/index.ts';
import type { ShootInit, World, WorldShoot } from '../world/index.ts';
import { careKinds, gardenKinds } from './care-kinds.ts';
import type { LogRecord } from './recorded-log.ts';
import { type SimulatedReplica, care } from './replica.ts';
import { Scenario } from './scenario.ts';

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

export const gardenNamespace = 'garden-sim';
const seedName = 'simulated';
/** Name of the ControllerRegistration and ControllerInstallation of all extensions of the world. */
const extensionName = 'simulated';
const heartbeatMs = 30_000;

/** A simulated seed whose shoots have what care reads, their garden, and care. */
export class CareFixture {
  readonly scenario: Scenario;
  readonly clock: VirtualClock;
  readonly seed: World;
  readonly garden: SimApiServer;
  /** Targets of the connections that were tried through tunnels. */
  readonly tunnelled: TunnelTarget[] = [];
  /** Connects through a tunnel. Tests replace it. */
  tunnel: (target: TunnelTarget, signal: AbortSignal) => Promise<void> = async () => undefined;
  readonly log: readonly LogRecord[];
  readonly requests;
  readonly #gardenLine;
  #gardenRule: FaultRule | undefined;
  #care: SimulatedReplica<CareSettings> | undefined;

  constructor(kinds: readonly SimKind[] = careSeedKinds) {
    this.scenario = new Scenario({ shoots: [], kinds });
    const { clock, world, log, seedConnection } = this.scenario;
    [this.clock, this.seed, this.log] = [clock, world, log];
    this.garden = createSimApiServer({ clock, kinds: gardenKinds });
    const rule: FaultRule = (request) => {
      // As a transport does.
      request.beforeSend?.();
      return this.#gardenRule?.(request);
    };
    this.#gardenLine = withCounting(withFaults(this.garden, { clock, rule }));
    this.requests = {
      seed: seedConnection.requests,
      garden: this.#gardenLine.counts,
      shoot: (name: string) => this.scenario.shootConnection(name).requests,
    };
    this.#beat();
  }

  /** Returns care as it runs or ran last. */
  get care(): SimulatedReplica<CareSettings> {
    if (this.#care === undefined) throw new Error('care has not been started');
    return this.#care;
  }

  addShoot(name: string, nodes = 5, init: Partial<ShootInit> = {}): WorldShoot {
    const shoot = this.seed.addShoot({ ...init, name, nodes, careObjects: true });
    const ref = { name: shoot.namespace };
    const { shoot: embedded } = this.seed.store.get(simKinds.Cluster, ref)?.spec as { readonly shoot: SimObject };
    const spec = { ...asMap(embedded.spec), seedName };
    this.garden.store.put(careKinds.Shoot, { ...embedded, metadata: { name, namespace: gardenNamespace }, spec });
    this.garden.store.put(careKinds.ControllerRegistration, {
      metadata: { name: extensionName },
      spec: { resources: this.#extensions() },
    });
    return shoot;
  }

  /** Sets the `managedFields` of the Shoot in the garden. */
  setWriters({ name }: WorldShoot, entries: readonly object[]): void {
    this.garden.store.patch(careKinds.Shoot, { namespace: gardenNamespace, name }, (shoot) => ({
      ...shoot,
      metadata: { ...shoot.metadata, managedFields: entries },
    }));
  }

  setFaults(where: 'seed' | 'garden' | WorldShoot, rule: FaultRule | undefined): void {
    if (where === 'garden') this.#gardenRule = rule;
    else if (where === 'seed') this.scenario.seedConnection.setFaults(rule);
    else this.scenario.shootConnection(where.name).setFaults(rule);
  }

  start({ settings = {}, takeOver = false, dryRun = false, withoutGarden = false, gardenQps }: CareStart = {}): void {
    const component = care({
      takeOver,
      garden: withoutGarden ? undefined : this.#limitedGarden(gardenQps),
      tunnels: {
        connect: async (_, target, signal) => {
          this.tunnelled.push(target);
          await this.tunnel(target, signal);
        },
      },
    });
    this.#care = this.scenario.start(component, { settings: { ...defaultSettings(), ...settings }, dryRun });
  }

  reload(settings: Partial<CareSettings>): void {
    this.care.reload({ ...defaultSettings(), ...settings });
  }

  stop(): Promise<void> {
    return this.scenario.stop();
  }

  #limitedGarden(qps: number | undefined): Kube {
    if (qps === undefined) return this.#gardenLine;
    const { clock } = this;
    const meter = createMeter({ processMetrics: false });
    const limiter = createRateLimiter({ qps, burst: 10, urgentInFlight: 1, clock, meter, cluster: 'garden' });
    return limitedStack(this.#gardenLine, { clock, limiter });
  }

  /** Kinds and types of the extensions in the seed. */
  #extensions(): readonly object[] {
    return [...extensionKinds.values()].flatMap((kind) =>
      this.seed.store.list(kind).map(({ spec }) => ({ kind: kind.kind, type: asMap(spec).type })),
    );
  }

  /** Keeps the heartbeat of the world's extensions fresh. */
  #beat(): void {
    this.garden.store.put(careKinds.ControllerInstallation, {
      metadata: { name: extensionName },
      spec: { registrationRef: { name: extensionName }, seedRef: { name: seedName } },
    });
    const beat = (): void => {
      this.clock.timer(heartbeatMs, beat);
      this.seed.store.put(simKinds.Lease, {
        metadata: { namespace: `extension-${extensionName}`, name: heartbeatLeaseName },
        spec: { renewTime: formatMicroTime(this.clock.now()) },
      });
    };
    beat();
  }
}
