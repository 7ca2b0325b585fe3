import { type DeploymentTruth, learnDeployment } from './deployment-truth.ts';
import type { ClusterPhase, ExchangeId, Life, SimEvent } from './history.ts';
import type { Plan, PlannedFault } from './plan.ts';
import { type ControlPlaneTruth, emptyControlPlane, learnPod, learnService } from './pod-truth.ts';
import { type ProcessTruth, emptyProcesses, learnHindrance, learnLead, learnProcess } from './process-truth.ts';
import { changesPhase, skewsTime, touches } from './touches.ts';

/** Monotonic times of the run, in milliseconds. */
export interface ShootTruth {
  /** When each lease last changed. */
  readonly leases: ReadonlyMap<string, number>;
  readonly nodes: ReadonlyMap<string, { readonly isCandidate: boolean; readonly isUnknown: boolean }>;
  /** Nodes whose machine is alive. */
  readonly machines: ReadonlySet<string>;
  readonly deployments: ReadonlyMap<string, DeploymentTruth>;
  readonly phase: ClusterPhase;
  readonly phaseSince: number;
  /** When something that makes protection hard last began or ended; see `troubledUntil`. */
  readonly troubledUntil: number;
  /** Timestamps may be off, or may have been. */
  readonly isSkewed: boolean;
  /** Until then its kubeconfigs may have been of no use, and its outside path unknown for that. Infinity while they are. */
  readonly spoiledUntil: number;
  readonly controlPlane: ControlPlaneTruth;
}

export interface Exchange {
  readonly sentAt: number;
  /** The shoot's objects as they were when the request was served. */
  readonly served?: { readonly at: number; readonly truth: ShootTruth | undefined };
}

/** The world as it is, put together from what happened. */
export interface Truth {
  readonly at: number;
  /** Of the plan. */
  readonly replicas: number;
  readonly processes: ProcessTruth;
  readonly shoots: ReadonlyMap<string, ShootTruth>;
  readonly leader: {
    /** Undefined while nobody holds the Lease. */
    readonly life: Life | undefined;
    /** When each life sent the latest write that made it the holder or kept it so. */
    readonly renewals: ReadonlyMap<Life, number>;
  };
  readonly faults: readonly PlannedFault[];
  /** Requests under way. */
  readonly exchanges: ReadonlyMap<string, Exchange>;
  /** The one that is just being answered, or failing. */
  readonly ending: Exchange | undefined;
  readonly healedAt: number | undefined;
}

const emptyShoot: ShootTruth = {
  leases: new Map(),
  nodes: new Map(),
  machines: new Set(),
  deployments: new Map(),
  phase: 'run',
  phaseSince: 0,
  troubledUntil: 0,
  isSkewed: false,
  spoiledUntil: Number.NEGATIVE_INFINITY,
  controlPlane: emptyControlPlane,
};

export const emptyTruth = ({ shoots, replicas }: Pick<Plan, 'shoots' | 'replicas'>): Truth => ({
  at: 0,
  replicas,
  processes: emptyProcesses,
  shoots: new Map(shoots.map(({ name }) => [name, emptyShoot])),
  leader: { life: undefined, renewals: new Map() },
  faults: [],
  exchanges: new Map(),
  ending: undefined,
  healedAt: undefined,
});

export const exchangeKey = ({ life, server, id }: ExchangeId): string => `${life}/${server}/${String(id)}`;

const put = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V | undefined): ReadonlyMap<K, V> => {
  const changed = new Map(map);
  if (value === undefined) changed.delete(key);
  else changed.set(key, value);
  return changed;
};

const editShoot = (truth: Truth, name: string, edit: (shoot: ShootTruth) => Partial<ShootTruth>): Truth => {
  const shoot = truth.shoots.get(name);
  return shoot === undefined ? truth : { ...truth, shoots: put(truth.shoots, name, { ...shoot, ...edit(shoot) }) };
};

const learnFault = (truth: Truth, event: Extract<SimEvent, { kind: 'fault' }>): Truth => {
  const { phase, planned, at } = event;
  const faults = phase === 'begins' ? [...truth.faults, planned] : truth.faults.filter((other) => other !== planned);
  const processes = learnHindrance(truth.processes, event, truth.replicas);
  let next: Truth = { ...truth, faults, processes };
  for (const name of truth.shoots.keys()) {
    if (!touches(planned.fault, name)) continue;
    const isSpoiled = faults.some(({ fault }) => fault.kind === 'credentials' && fault.shoot === name);
    const isSpoiling = planned.fault.kind === 'credentials';
    next = editShoot(next, name, ({ isSkewed, spoiledUntil, troubledUntil: before }) => ({
      spoiledUntil: isSpoiled ? Number.POSITIVE_INFINITY : isSpoiling ? at : spoiledUntil,
      // What it leaves behind is told by the phase.
      troubledUntil: phase === 'ends' && changesPhase(planned.fault) ? before : at,
      isSkewed: isSkewed || skewsTime(planned.fault, name),
    }));
  }
  return next;
};

const troubleAll = (truth: Truth): Truth => {
  const { at } = truth;
  return {
    ...truth,
    shoots: new Map(Array.from(truth.shoots, ([name, shoot]) => [name, { ...shoot, troubledUntil: at }])),
  };
};

const learnRequest = (truth: Truth, event: Extract<SimEvent, { kind: 'request' }>): Truth => {
  const key = exchangeKey(event.exchange);
  const known = truth.exchanges.get(key);
  switch (event.stage) {
    case 'sent':
      return { ...truth, exchanges: put(truth.exchanges, key, { sentAt: event.at }) };
    case 'served': {
      const shoot = event.shoot === undefined ? undefined : truth.shoots.get(event.shoot);
      const served = { at: event.at, truth: shoot };
      return { ...truth, exchanges: put(truth.exchanges, key, { sentAt: known?.sentAt ?? event.at, served }) };
    }
    case 'answered':
    case 'failed':
      return { ...truth, exchanges: put(truth.exchanges, key, undefined), ending: known };
  }
};

const learnLeader = (truth: Truth, { holder, writer }: Extract<SimEvent, { kind: 'leader' }>): Truth => {
  if (holder === '' || writer === 'world') return { ...truth, leader: { ...truth.leader, life: undefined } };
  const { life } = writer;
  const sentAt = truth.exchanges.get(exchangeKey(writer))?.sentAt ?? truth.at;
  const processes = learnLead(truth.processes, life, truth.at);
  return { ...truth, processes, leader: { life, renewals: put(truth.leader.renewals, life, sentAt) } };
};

/** Takes in what happened. Pure. */
export const learn = (before: Truth, event: SimEvent): Truth => {
  const truth: Truth = { ...before, at: event.at, ending: undefined };
  switch (event.kind) {
    case 'lease':
      return editShoot(truth, event.shoot, ({ leases }) => ({
        leases: put(leases, event.node, event.exists ? (event.since ?? event.at) : undefined),
      }));
    case 'node':
      return editShoot(truth, event.shoot, ({ nodes }) => ({ nodes: put(nodes, event.node, event.facts) }));
    case 'machine':
      return editShoot(truth, event.shoot, ({ machines }) => {
        const alive = new Set(machines);
        if (event.isAlive) alive.add(event.node);
        else alive.delete(event.node);
        return { machines: alive };
      });
    case 'deployment':
      return editShoot(truth, event.shoot, ({ deployments }) => ({
        deployments: put(deployments, event.name, learnDeployment(deployments.get(event.name), event)),
      }));
    case 'cluster':
      return editShoot(truth, event.shoot, ({ phase, phaseSince }) => ({
        phase: event.phase,
        phaseSince: phase === event.phase ? phaseSince : event.at,
      }));
    case 'leader':
      return learnLeader(truth, event);
    case 'fault':
      return learnFault(truth, event);
    case 'pod':
      return editShoot(truth, event.shoot, ({ controlPlane }) => ({ controlPlane: learnPod(controlPlane, event) }));
    case 'service':
      return editShoot(truth, event.shoot, ({ controlPlane }) => ({ controlPlane: learnService(controlPlane, event) }));
    case 'process':
      return { ...troubleAll(truth), processes: learnProcess(truth.processes, event) };
    case 'request':
      return learnRequest(truth, event);
    case 'healed':
      return { ...truth, healedAt: event.at };
    case 'settled':
    case 'at rest':
    case 'tick':
    case 'over':
      return truth;
  }
};

/** When something that makes a shoot hard to protect was last going on; now, while it is. */
export const troubledUntil = (truth: Truth, name: string): number =>
  truth.faults.some(({ fault }) => touches(fault, name)) ? truth.at : (truth.shoots.get(name)?.troubledUntil ?? 0);
