import { createHash } from 'node:crypto';
import { hasActive } from '../../annotations/scaling-annotations.ts';
import type { Store } from '../../kubernetes/cache/index.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProcessView } from '../../process/index.ts';
import { type NamedShoot, namedShoot } from '../../status/state/find-shoot.ts';
import { judgeShoot } from '../../status/state/judge-shoot.ts';
import type {
  PauseInForce,
  ProberStatus,
  ShootFacts,
  ShootStatus,
  ShootTold,
  UnprotectedCause,
} from '../../status/state/schema.ts';
import type { ClusterSource, HostedCluster } from '../clusters/cluster-source.ts';
import { shootGone } from '../clusters/lifecycle.ts';
import type { ProberSettings } from '../config/settings.ts';
import { timelyMs } from '../scale/advance-shoot.ts';
import { heldByCluster, isStillDown, shownHeld } from '../scale/held.ts';
import type { Standby } from '../scale/desired.ts';
import type { WatchedDependent } from '../scale/watch-dependent.ts';
import { DecisionLog } from './decision-log.ts';
import { type Emit, type Lack, type ShootProberView, observer } from './events.ts';
import { type MeasuredShoot, type ShootHistory, ShootRecord, shownDecisions, unlessEmpty } from './shoot-record.ts';
import { type ClockReading, formatWall } from './shown.ts';

export interface ShootStatesOptions {
  readonly clock: Clock;
  readonly dryRun: boolean;
  /** True if this process leads. */
  readonly leads: () => boolean;
  /** Name of the seed; absent: the one in its Clusters. */
  readonly seedName?: string | undefined;
  /** Returns the pause in force, of this shoot or of all. */
  readonly pauseOf: (cluster: string) => PauseInForce | undefined;
  /** Tells what a shoot begins to lack, or lacks no more. */
  readonly emit?: Emit;
}

/** What the watches show of the clusters of the seed. */
interface KnownClusters {
  readonly clusters: Pick<Store<HostedCluster>, 'get' | 'entries'>;
  readonly dependents: readonly Pick<WatchedDependent, 'ref' | 'store'>[];
  readonly source: Pick<ClusterSource, 'gone'>;
}

/** What `GET /status` says besides the shoots. */
export interface StatusContext {
  /** Settings in force. */
  readonly settings: ProberSettings;
  readonly process: ProcessView;
  readonly standby: Standby;
  /** The pause of all shoots. */
  readonly paused: PauseInForce | undefined;
}

/** Somebody has ordered these, and has Events about them, or the whole prober is so. */
const ordered: ReadonlySet<UnprotectedCause> = new Set(['paused', 'dry-run']);

interface Lacking {
  readonly view: ShootProberView;
  readonly former: Lack | undefined;
  readonly now: number;
}

/** Returns what a shoot lacks. One that was unprotected is so until it is seen healthy, because an outage hides the cause. */
const lackOf = ({ state, causes }: ShootTold, { view, former, now }: Lacking): Lack | undefined => {
  const { up, held } = view;
  const { unmet } = view.state;
  if (unmet !== undefined && held.length === 0 && now >= unmet.since + timelyMs) return 'late';
  if (state === 'blind') return 'blind';
  if (state === 'losing nodes' && causes.includes('paused') && up.length > 0) return 'held back';
  if (causes.some((cause) => !ordered.has(cause))) return 'unprotected';
  const isHealthy = state === 'healthy' || state === 'flapping';
  return former === 'unprotected' && !isHealthy ? former : undefined;
};

/** The list of all shoots in a response may be this old, in milliseconds. */
const listAgeMs = 500;

/** Returns the same hash for the same configuration, however it is written. It leaves out resources that are only still to be restored. */
const configHashOf = ({ dependentResources, ...rest }: ProberSettings): string => {
  const named = dependentResources.filter(({ restoreOnly }) => restoreOnly !== true);
  return createHash('sha256')
    .update(JSON.stringify({ ...rest, dependentResources: named }))
    .digest('hex')
    .slice(0, 12);
};

/** Time for which the history of a shoot is kept after its prober has ended, in milliseconds. */
const keptMs = 3_600_000;

/** Status of all probers of a process, kept across changes of the configuration. */
export class ShootStates {
  readonly #options: ShootStatesOptions;
  #clusters: KnownClusters = { clusters: new Map(), dependents: [], source: { gone: shootGone } };
  readonly #records = new Map<string, ShootRecord>();
  /** What is kept of shoots whose probers have ended, the latest last. */
  readonly #former = new Map<string, { readonly history: ShootHistory; readonly endedAt: number }>();
  #latest:
    | { readonly at: number; readonly probed: readonly MeasuredShoot[]; readonly unprobed: readonly ShootStatus[] }
    | undefined;

  constructor(options: ShootStatesOptions) {
    this.#options = options;
  }

  /** Sets what the watches of the present configuration show. */
  clustersBy(clusters: KnownClusters): void {
    this.#clusters = clusters;
  }

  /** Returns the name of the seed: the given one, or that of the first of its Clusters that has it, because all of them have the same. */
  seed(): string | undefined {
    const { seedName: given } = this.#options;
    if (given !== undefined) return given;
    for (const [, { seedName }] of this.#clusters.clusters.entries()) if (seedName !== undefined) return seedName;
    return undefined;
  }

  readonly observe: Emit = observer({
    stepped: ({ cluster, readView }) => this.#stepped(cluster, readView),
    'run-ended': ({ cluster, result }) => this.#records.get(cluster)?.runEnded(result, this.#reading()),
    'response-received': (event) => this.#records.get(event.cluster)?.responded(event, this.#options, this.#reading()),
    forgotten: ({ cluster }) => {
      this.#keepHistory(cluster);
      this.#records.delete(cluster);
    },
  });

  /** Returns the instant since which every shoot has been probed, in RFC 3339; undefined before each of them has. */
  lastRoundEndedAt(): string | undefined {
    const probed = [...this.#records.values()].filter(({ isProbed }) => isProbed);
    const oldest = Math.min(...probed.map(({ lastRunEndedAt = Number.NEGATIVE_INFINITY }) => lastRunEndedAt));
    return Number.isFinite(oldest) ? formatWall(oldest) : undefined;
  }

  /** Returns the rows of all shoots; `maxAgeMs` as in `all`. */
  rows(maxAgeMs = 0): readonly ShootStatus[] {
    const { probed, unprobed } = this.all(maxAgeMs);
    return [...probed.map(({ row }) => row), ...unprobed];
  }

  /** Returns what is true of all shoots: as of an earlier call if that is younger than `maxAgeMs`, so that frequent calls cost no more than rare ones. */
  all(maxAgeMs = 0): { readonly probed: readonly MeasuredShoot[]; readonly unprobed: readonly ShootStatus[] } {
    const reading = this.#reading();
    if (this.#latest === undefined || reading.monotonic - this.#latest.at >= maxAgeMs) {
      const probed = Array.from(this.#records, ([cluster, record]) =>
        record.measured(this.#contextOf(cluster), reading),
      );
      this.#latest = { at: reading.monotonic, probed, unprobed: this.#unprobed() };
    }
    return this.#latest;
  }

  /** Returns the shoot of this name. Empty if there is none. */
  details(name: string): readonly ShootStatus[] {
    const record = this.#records.get(name);
    if (record !== undefined) return [record.details(this.#contextOf(name), this.#reading())];
    const decisions = shownDecisions(this.#historyOf(name).decisions);
    return this.#unprobed().flatMap((shoot) => (shoot.namespace === name ? [{ ...shoot, decisions }] : []));
  }

  #keepHistory(cluster: string): void {
    const history = this.#records.get(cluster)?.history;
    if (history === undefined) return;
    this.#former.delete(cluster);
    this.#former.set(cluster, { history, endedAt: this.#options.clock.monotonic() });
    for (const [name, former] of this.#former) if (!this.#isKept(former)) this.#former.delete(name);
  }

  #isKept({ endedAt }: { readonly endedAt: number }): boolean {
    return this.#options.clock.monotonic() - endedAt < keptMs;
  }

  #historyOf(cluster: string): ShootHistory {
    const former = this.#former.get(cluster);
    return former !== undefined && this.#isKept(former)
      ? former.history
      : { decisions: new DecisionLog(), failedWrites: new Map() };
  }

  /** Returns the shoots without a prober, with their held resources as far as the watches show them. */
  #unprobed(): readonly ShootStatus[] {
    const { pauseOf, dryRun, leads, clock } = this.#options;
    const { clusters, dependents } = this.#clusters;
    const found = heldByCluster(dependents);
    const names = new Set([...Array.from(clusters.entries(), ([name]) => name), ...found.keys()]);
    return [...names].flatMap((cluster) => {
      const held = (found.get(cluster) ?? [])
        .filter((one) => hasActive(one) && isStillDown(one))
        .map(({ ref, annotations }) => shownHeld({ ...ref, annotations }));
      if (this.#records.has(cluster) || (clusters.get(cluster) === undefined && held.length === 0)) return [];
      const facts: ShootFacts = {
        ...{ ...this.#namesOf(cluster), notProbed: this.#whyNotProbed(cluster), held },
        ...{ reason: '', candidates: 0, expired: 0, leaseExpiryMs: 0, graceMs: 0, flapping: false },
        paused: pauseOf(cluster) ?? null,
        failedWrites: unlessEmpty([...this.#historyOf(cluster).failedWrites.values()]),
      };
      return [{ ...facts, ...judgeShoot(facts, { now: clock.now(), probeIntervalMs: 0, dryRun, leads: leads() }) }];
    });
  }

  /** Names a cluster by its Shoot; by its namespace if that is not known. */
  #namesOf(cluster: string): NamedShoot {
    return namedShoot(cluster, this.#clusters.clusters.get(cluster)?.shootName);
  }

  #whyNotProbed(cluster: string): ShootFacts['notProbed'] {
    const { clusters, source } = this.#clusters;
    const { lifecycle = { ok: true, value: source.gone } as const } = clusters.get(cluster) ?? {};
    if (!lifecycle.ok) {
      return { reason: `its Cluster cannot be decoded: ${lifecycle.error.message}`, givesBack: false };
    }
    const { value: decision } = lifecycle;
    if (decision.kind === 'run') return { reason: 'its prober is about to start', givesBack: true };
    return { reason: decision.reason, givesBack: decision.kind === 'stop' && decision.releasePolicy !== 'nothing' };
  }

  /** Returns the response to `GET /status`; with the name of a shoot, about that shoot alone. */
  status({ settings, process, standby, paused }: StatusContext, shoot?: string): ProberStatus {
    return {
      schemaVersion: 1,
      component: 'prober',
      seed: this.seed(),
      identity: process.identity,
      version: process.version,
      at: formatWall(this.#options.clock.now()),
      leads: process.leads,
      leadsSince: process.leadsSince === undefined ? undefined : formatWall(process.leadsSince),
      standby,
      dryRun: this.#options.dryRun,
      configHash: configHashOf(settings),
      probeIntervalMs: settings.probeIntervalMs,
      lastRoundEndedAt: this.lastRoundEndedAt(),
      missingRights: process.missingRights,
      otherInstallations: process.otherInstallations.length === 0 ? undefined : process.otherInstallations,
      paused: paused ?? null,
      shoots: shoot === undefined ? this.rows(listAgeMs) : this.details(shoot),
    };
  }

  #reading(): ClockReading {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }

  #contextOf(cluster: string) {
    const { pauseOf, dryRun, leads } = this.#options;
    const whyNotProbed = () => this.#whyNotProbed(cluster);
    return { ...this.#namesOf(cluster), pause: pauseOf(cluster), whyNotProbed, dryRun, leads: leads() };
  }

  #stepped(cluster: string, readView: () => ShootProberView): void {
    const reading = this.#reading();
    const record = this.#records.get(cluster) ?? new ShootRecord(readView, this.#historyOf(cluster), reading);
    this.#records.set(cluster, record);
    // Another prober of the same shoot may have taken over.
    record.readView = readView;
    const told = record.row(this.#contextOf(cluster), reading);
    if (told.state === 'not probed') return;
    const { lack: former } = record;
    const lack = lackOf(told, { view: readView(), former, now: reading.monotonic });
    record.lack = lack;
    if (lack === former) return;
    this.#options.emit?.({ kind: 'lack-changed', cluster, lack, former, why: told.why, do: told.do });
  }
}
