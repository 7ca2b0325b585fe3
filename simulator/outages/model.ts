import { gardenSettings } from '../harness/index.ts';
import type { World } from '../world/index.ts';
import { candidatesOf, missingMs } from './facts.ts';
import { excusedUntil, hamperedUntil, startMs } from './hindrance.ts';
import type { ClusterPhase, DeploymentFacts, ProcessName, SimEvent } from './history.ts';
import type { Plan } from './plan.ts';
import { expiryAgeMs } from './threshold.ts';
import { otherSettings } from './world-settings.ts';

// The state of the world, derived from the events. Monotonic times of the run, in milliseconds.

/** A kubelet that has renewed within this time, in milliseconds, gets through: it renews every 10 s. */
export const renewedMs = 11_000;

export interface LeaseModel {
  readonly renewedAt: number;
  /** Time of the first renewal after the latest silence of more than an interval, and of the last one before it. */
  readonly returnedAt: number;
  readonly silentSince: number;
}

export interface DeploymentModel extends DeploymentFacts {
  /** The last replicas above 0 that another writer than a watchdog has set. */
  readonly desired: number;
}

export interface ShootModel {
  readonly leases: Map<string, LeaseModel>;
  readonly deployments: Map<string, DeploymentModel>;
  phase: ClusterPhase;
  phaseSince: number;
}

const emptyShoot = (): ShootModel => ({
  leases: new Map(),
  deployments: new Map(),
  phase: 'run',
  phaseSince: 0,
});

export class Model {
  readonly plan: Plan;
  /** `nodeLeaseFailureFraction` of each configuration of the plan. */
  readonly fractions: readonly number[];
  readonly #world: World;
  readonly shoots: ReadonlyMap<string, ShootModel>;
  at = 0;
  /** Undefined while no process holds the Lease. */
  leader: ProcessName | undefined;
  /** Time at which each process sent the latest write that acquired or renewed the Lease. */
  readonly renewals = new Map<ProcessName, number>();
  /** The starts, ends and suspensions of processes: their replicas and times. */
  readonly #disturbances: (readonly [replica: number, at: number])[] = [];

  constructor(plan: Plan, world: World) {
    this.plan = plan;
    this.#world = world;
    const reloads = plan.faults.flatMap(({ fault }) => (fault.kind === 'reload' ? [fault.settings] : []));
    this.fractions = [undefined, ...reloads].map(
      (reload = -1) => otherSettings[reload]?.nodeLeaseFailureFraction ?? gardenSettings.nodeLeaseFailureFraction,
    );
    this.shoots = new Map(plan.shoots.map(({ name }) => [name, emptyShoot()]));
  }

  graceMs(name: string): number {
    return this.plan.shoots.find((shoot) => shoot.name === name)?.graceMs ?? gardenSettings.nodeMonitorGraceMs;
  }

  /** Returns the age at which a lease of the shoot is expired. */
  limitMs(name: string): number {
    return expiryAgeMs(this.graceMs(name));
  }

  /** Returns the names of the nodes of a shoot that count. */
  candidates(name: string): readonly string[] {
    return candidatesOf(this.#world, this.#world.shoot(name));
  }

  /** Returns the time from which nothing excuses a shoot that is not protected, and had to be at `due`. */
  excusedUntil(name: string, due = this.at): number {
    const { phaseSince = 0 } = this.shoots.get(name) ?? {};
    const limitMs = this.limitMs(name);
    const given = { shoot: name, now: this.at, due, limitMs, disturbances: this.#disturbances };
    return Math.max(phaseSince === 0 ? 0 : phaseSince + startMs, excusedUntil(this.plan, given));
  }

  /** Returns how long an API server takes for a response, in milliseconds, apart from the way. */
  slownessMs(server: string): number {
    const delays = this.plan.faults.map(({ at, forMs, fault }) => {
      const isActive = fault.kind === 'api-server' && fault.server === server && at <= this.at && this.at < at + forMs;
      return isActive && fault.trouble.how === 'slow' ? fault.trouble.delayMs : 0;
    });
    return Math.max(0, ...delays);
  }

  /** Returns the time until which watchdogs may not know the seed; Infinity while a fault hampers them. */
  hamperedUntil(): number {
    return hamperedUntil(this.plan, this.at);
  }

  apply(event: SimEvent): void {
    this.at = event.at;
    const shoot = 'shoot' in event && event.shoot !== undefined ? this.shoots.get(event.shoot) : undefined;
    if (shoot !== undefined) learn(shoot, event);
    if (event.kind === 'leader') this.#learnLeader(event);
    if (event.kind === 'process') this.#disturbances.push([Number.parseInt(event.process, 10), event.at]);
    if (event.kind === 'tick') this.#loseClusters();
  }

  #learnLeader({ holder, writer }: Extract<SimEvent, { kind: 'leader' }>): void {
    this.leader = undefined;
    if (holder === '' || writer === 'world') return;
    const { process, sentAt } = writer;
    this.leader = process;
    this.renewals.set(process, sentAt);
  }

  /** Ends the phase `missing` after `missingMs`: the cluster is gone, and only the watchdog would restore its held resources. */
  #loseClusters(): void {
    for (const shoot of this.shoots.values()) {
      if (shoot.phase !== 'missing' || this.at - shoot.phaseSince < missingMs) continue;
      Object.assign(shoot, { phase: 'restore', phaseSince: this.at });
    }
  }
}

const learn = (shoot: ShootModel, event: SimEvent): void => {
  if (event.kind === 'deployment') learnDeployment(shoot.deployments, event);
  if (event.kind === 'lease') {
    const renewedAt = event.since ?? event.at;
    const known = shoot.leases.get(event.node);
    const hasReturned = known === undefined || renewedAt - known.renewedAt > renewedMs;
    const silence = hasReturned ? { returnedAt: renewedAt, silentSince: known?.renewedAt ?? renewedAt } : known;
    shoot.leases.set(event.node, { ...silence, renewedAt });
  }
  if (event.kind === 'cluster' && shoot.phase !== event.phase) {
    Object.assign(shoot, { phase: event.phase, phaseSince: event.at });
  }
};

const learnDeployment = (
  deployments: ShootModel['deployments'],
  { name, after, writer }: Extract<SimEvent, { kind: 'deployment' }>,
): void => {
  const known = deployments.get(name);
  if (after === undefined) deployments.delete(name);
  else {
    const isDesired = writer === 'world' && after.replicas > 0 && after.replicas !== known?.replicas;
    deployments.set(name, { ...after, desired: isDesired ? after.replicas : (known?.desired ?? after.replicas) });
  }
};
