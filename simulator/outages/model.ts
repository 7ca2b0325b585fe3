import type { World } from '../world/index.ts';
import { candidatesOf, missingMs } from './facts.ts';
import { excusedUntil, hamperedUntil, startMs } from './hindrance.ts';
import type { ClusterPhase, DeploymentFacts, PodFacts, ProcessName, SimEvent } from './history.ts';
import type { Plan } from './plan.ts';
import { type Rules, rulesOf } from './rules.ts';

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

export interface PodModel extends PodFacts {
  readonly name: string;
  /** Time since which it has been crash-looping; undefined if it is not. */
  readonly crashLoopingSince: number | undefined;
}

export interface ServiceModel {
  readonly isReady: boolean;
  /** Time at which it became ready, or ceased to be. */
  readonly since: number;
}

export interface ShootModel {
  readonly leases: Map<string, LeaseModel>;
  readonly deployments: Map<string, DeploymentModel>;
  /** Pods by UID. */
  readonly pods: Map<string, PodModel>;
  readonly services: Map<string, ServiceModel>;
  phase: ClusterPhase;
  phaseSince: number;
}

const emptyShoot = (): ShootModel => ({
  leases: new Map(),
  deployments: new Map(),
  pods: new Map(),
  services: new Map(),
  phase: 'run',
  phaseSince: 0,
});

export class Model {
  readonly plan: Plan;
  readonly rules: Rules;
  readonly #world: World;
  readonly shoots: ReadonlyMap<string, ShootModel>;
  at = 0;
  /** Undefined while no process holds the Lease. */
  leader: ProcessName | undefined;
  /** Time at which each process sent the latest write that acquired or renewed the Lease. */
  readonly renewals = new Map<ProcessName, number>();
  /** Time since which each running process may write: since its start, or since it first held the Lease if there is an election. */
  readonly acting = new Map<ProcessName, number>();
  /** The starts, ends and suspensions of processes: their replicas and times. */
  readonly #disturbances: (readonly [replica: number, at: number])[] = [];

  constructor(plan: Plan, world: World) {
    this.plan = plan;
    this.#world = world;
    this.rules = rulesOf(plan);
    this.shoots = new Map(plan.shoots.map(({ name }) => [name, emptyShoot()]));
  }

  /** Returns the names of the nodes of a shoot that count. */
  candidates(name: string): readonly string[] {
    return candidatesOf(this.#world, this.#world.shoot(name));
  }

  /** Returns the time from which nothing excuses a shoot that is not protected, and had to be at `due`. */
  excusedUntil(name: string, due = this.at): number {
    const { phaseSince = 0 } = this.shoots.get(name) ?? {};
    const limitMs = this.rules.limitMs(name);
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
    if (event.kind === 'process') this.#learnProcess(event);
    if (event.kind === 'tick') this.#loseClusters();
  }

  #learnLeader({ holder, writer, at }: Extract<SimEvent, { kind: 'leader' }>): void {
    this.leader = undefined;
    if (holder === '' || writer === 'world') return;
    const { process, sentAt } = writer;
    this.leader = process;
    this.renewals.set(process, sentAt);
    if (!this.acting.has(process)) this.acting.set(process, at);
  }

  #learnProcess({ process, what, at }: Extract<SimEvent, { kind: 'process' }>): void {
    this.#disturbances.push([Number.parseInt(process, 10), at]);
    if (what === 'starts' && !this.plan.elected) this.acting.set(process, at);
    if (what === 'is killed' || what === 'receives SIGTERM' || what === 'has ended') this.acting.delete(process);
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
  if (event.kind === 'pod') learnPod(shoot.pods, event);
  if (event.kind === 'lease') {
    const renewedAt = event.since ?? event.at;
    const known = shoot.leases.get(event.node);
    const hasReturned = known === undefined || renewedAt - known.renewedAt > renewedMs;
    const silence = hasReturned ? { returnedAt: renewedAt, silentSince: known?.renewedAt ?? renewedAt } : known;
    shoot.leases.set(event.node, { ...silence, renewedAt });
  }
  if (event.kind === 'service' && shoot.services.get(event.name)?.isReady !== event.isReady) {
    shoot.services.set(event.name, { isReady: event.isReady, since: event.at });
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

const learnPod = (pods: ShootModel['pods'], { uid, name, after, at }: Extract<SimEvent, { kind: 'pod' }>): void => {
  if (after === undefined) pods.delete(uid);
  else {
    const crashLoopingSince = after.isCrashLooping ? (pods.get(uid)?.crashLoopingSince ?? at) : undefined;
    pods.set(uid, { ...after, name, crashLoopingSince });
  }
};
