import { type DeploymentModel, learnDeployment } from './deployment-model.ts';
import type { ClusterPhase, ExchangeId, ProcessName, SimEvent } from './history.ts';
import type { Plan, PlannedFault } from './plan.ts';
import { type ControlPlaneModel, emptyControlPlane, applyPodEvent, learnService } from './pod-model.ts';
import {
  type ProcessModel,
  emptyProcesses,
  applyHindrance,
  applyLeadershipEvent,
  applyProcessEvent,
} from './process-model.ts';
import { missingMs } from './facts.ts';
import { changesPhase, skewsTime, hindersProtection } from './hinders-protection.ts';

/** State of a shoot. Monotonic times of the run, in milliseconds. */
export interface ShootModel {
  /** Time of the last change of each lease. */
  readonly leases: ReadonlyMap<string, number>;
  /** Time of the change before that. */
  readonly earlier: ReadonlyMap<string, number>;
  readonly nodes: ReadonlyMap<string, { readonly isCandidate: boolean; readonly isUnknown: boolean }>;
  /** Nodes whose Machine is alive; all nodes in a seed without Machines. */
  readonly machines: ReadonlySet<string>;
  readonly deployments: ReadonlyMap<string, DeploymentModel>;
  readonly phase: ClusterPhase;
  readonly phaseSince: number;
  /** Time at which a fault that hinders protection last began or ended; see the function `hinderedUntil`. */
  readonly hinderedUntil: number;
  /** True if timestamps of its leases may be wrong, or may have been. */
  readonly isSkewed: boolean;
  readonly controlPlane: ControlPlaneModel;
}

export interface ObservedExchange {
  readonly sentAt: number;
  /** State of the shoot when the request was served. */
  readonly served?: { readonly at: number; readonly model: ShootModel | undefined };
}

/** State of the world, derived from the events. */
export interface Model {
  readonly at: number;
  /** Number of replicas of the plan. */
  readonly replicas: number;
  readonly source: Plan['source'];
  readonly processes: ProcessModel;
  readonly shoots: ReadonlyMap<string, ShootModel>;
  readonly leader: {
    /** Undefined while no process holds the Lease. */
    readonly process: ProcessName | undefined;
    /** Time at which each process sent the latest write that acquired or renewed the Lease. */
    readonly renewals: ReadonlyMap<ProcessName, number>;
  };
  readonly faults: readonly PlannedFault[];
  /** Requests in progress. */
  readonly exchanges: ReadonlyMap<string, ObservedExchange>;
  /** The request that ends with the current event. */
  readonly ending: ObservedExchange | undefined;
  readonly healedAt: number | undefined;
}

const emptyShoot: ShootModel = {
  leases: new Map(),
  earlier: new Map(),
  nodes: new Map(),
  machines: new Set(),
  deployments: new Map(),
  phase: 'run',
  phaseSince: 0,
  hinderedUntil: 0,
  isSkewed: false,
  controlPlane: emptyControlPlane,
};

export const emptyModel = ({ shoots, replicas, source }: Pick<Plan, 'shoots' | 'replicas' | 'source'>): Model => ({
  at: 0,
  replicas,
  source,
  processes: emptyProcesses,
  shoots: new Map(shoots.map(({ name }) => [name, emptyShoot])),
  leader: { process: undefined, renewals: new Map() },
  faults: [],
  exchanges: new Map(),
  ending: undefined,
  healedAt: undefined,
});

const exchangeKey = ({ process, server, id }: ExchangeId): string => `${process}/${server}/${String(id)}`;

/** Returns the time at which a write was sent, for an event that the write causes. */
export const sentAtOf = (model: Model, writer: ExchangeId): number =>
  model.exchanges.get(exchangeKey(writer))?.sentAt ?? model.at;

const put = <K, V>(map: ReadonlyMap<K, V>, key: K, value: V | undefined): ReadonlyMap<K, V> => {
  const changed = new Map(map);
  if (value === undefined) changed.delete(key);
  else changed.set(key, value);
  return changed;
};

const editShoot = (model: Model, name: string, edit: (shoot: ShootModel) => Partial<ShootModel>): Model => {
  const shoot = model.shoots.get(name);
  return shoot === undefined ? model : { ...model, shoots: put(model.shoots, name, { ...shoot, ...edit(shoot) }) };
};

const learnFault = (model: Model, event: Extract<SimEvent, { kind: 'fault' }>): Model => {
  const { phase, planned, at } = event;
  const faults = phase === 'begins' ? [...model.faults, planned] : model.faults.filter((other) => other !== planned);
  const processes = applyHindrance(model.processes, event, model.replicas);
  let next: Model = { ...model, faults, processes };
  for (const name of model.shoots.keys()) {
    if (!hindersProtection(planned.fault, name)) continue;
    next = editShoot(next, name, ({ isSkewed, hinderedUntil: before }) => ({
      // The phase covers the time after such a fault.
      hinderedUntil: phase === 'ends' && changesPhase(planned.fault) ? before : at,
      isSkewed: isSkewed || skewsTime(planned.fault, name),
    }));
  }
  return next;
};

const disturbAll = (model: Model): Model => {
  const { at } = model;
  return {
    ...model,
    shoots: new Map(Array.from(model.shoots, ([name, shoot]) => [name, { ...shoot, hinderedUntil: at }])),
  };
};

const learnRequest = (model: Model, event: Extract<SimEvent, { kind: 'request' }>): Model => {
  const key = exchangeKey(event.exchange);
  const known = model.exchanges.get(key);
  switch (event.stage) {
    case 'sent':
      return { ...model, exchanges: put(model.exchanges, key, { sentAt: event.at }) };
    case 'served': {
      const shoot = event.shoot === undefined ? undefined : model.shoots.get(event.shoot);
      const served = { at: event.at, model: shoot };
      return { ...model, exchanges: put(model.exchanges, key, { sentAt: known?.sentAt ?? event.at, served }) };
    }
    case 'answered':
    case 'failed':
      return { ...model, exchanges: put(model.exchanges, key, undefined), ending: known };
  }
};

/** Ends the phase `missing` after `missingMs`: the cluster is gone, and only the watchdog would restore its held resources. */
const learnTime = (model: Model): Model => {
  let next = model;
  for (const [name, { phase, phaseSince }] of model.shoots) {
    if (phase !== 'missing' || model.at - phaseSince < missingMs) continue;
    next = editShoot(next, name, () => ({ phase: 'restore', phaseSince: model.at }));
  }
  return next;
};

const learnLeader = (model: Model, { holder, writer }: Extract<SimEvent, { kind: 'leader' }>): Model => {
  if (holder === '' || writer === 'world') return { ...model, leader: { ...model.leader, process: undefined } };
  const { process } = writer;
  const sentAt = sentAtOf(model, writer);
  const processes = applyLeadershipEvent(model.processes, process, model.at);
  return { ...model, processes, leader: { process, renewals: put(model.leader.renewals, process, sentAt) } };
};

/** Applies an event. Pure. */
export const applyEvent = (before: Model, event: SimEvent): Model => {
  const model: Model = { ...before, at: event.at, ending: undefined };
  switch (event.kind) {
    case 'lease':
      return editShoot(model, event.shoot, ({ leases, earlier }) => ({
        earlier: put(earlier, event.node, event.exists ? leases.get(event.node) : undefined),
        leases: put(leases, event.node, event.exists ? (event.since ?? event.at) : undefined),
      }));
    case 'node':
      return editShoot(model, event.shoot, ({ nodes }) => ({ nodes: put(nodes, event.node, event.facts) }));
    case 'machine':
      return editShoot(model, event.shoot, ({ machines }) => {
        const alive = new Set(machines);
        if (event.isAlive) alive.add(event.node);
        else alive.delete(event.node);
        return { machines: alive };
      });
    case 'deployment':
      return editShoot(model, event.shoot, ({ deployments }) => ({
        deployments: put(deployments, event.name, learnDeployment(deployments.get(event.name), event)),
      }));
    case 'cluster':
      return editShoot(model, event.shoot, ({ phase, phaseSince }) => ({
        phase: event.phase,
        phaseSince: phase === event.phase ? phaseSince : event.at,
      }));
    case 'leader':
      return learnLeader(model, event);
    case 'fault':
      return learnFault(model, event);
    case 'pod':
      return editShoot(model, event.shoot, ({ controlPlane }) => ({
        controlPlane: applyPodEvent(controlPlane, event),
      }));
    case 'service':
      return editShoot(model, event.shoot, ({ controlPlane }) => ({ controlPlane: learnService(controlPlane, event) }));
    case 'process':
      return { ...disturbAll(model), processes: applyProcessEvent(model.processes, event) };
    case 'request':
      return learnRequest(model, event);
    case 'healed':
      return { ...model, healedAt: event.at };
    case 'tick':
      return learnTime(model);
    case 'settled':
    case 'at rest':
    case 'over':
      return model;
  }
};

/** Returns the last time at which a fault hindered the protection of a shoot; the current time while one does. */
export const hinderedUntil = (model: Model, name: string): number =>
  model.faults.some(({ fault }) => hindersProtection(fault, name))
    ? model.at
    : (model.shoots.get(name)?.hinderedUntil ?? 0);
