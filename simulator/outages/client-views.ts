import type { ProcessName, SimEvent } from './history.ts';
import type { ShootModel, Model } from './model.ts';

/** Contents of the lists of nodes and machines. */
interface Surroundings {
  readonly nodes?: ShootModel['nodes'];
  readonly machines?: ShootModel['machines'];
}

/** A list of leases that a process received, with the lists of nodes and machines of the same run. */
export interface Observation extends Surroundings {
  /** Time at which the leases were served. */
  readonly servedAt: number;
  /** Time at which the last of the lists arrived. */
  readonly knownAt: number;
  readonly leases: ShootModel['leases'];
}

export interface Unreachable {
  /** Time at which the request was sent that ended the first of these runs. */
  readonly since: number;
  /** True if a request got 5xx or 429, or no response on an established connection. */
  readonly hasFailed: boolean;
}

/** Data that one process has received about one shoot. */
export interface View {
  /** Number of lists of leases that it received. */
  readonly observations: number;
  readonly observedAt: number;
  /** Longest time between two successive lists. */
  readonly longestGapMs: number;
  /** Leases that changed between two lists. */
  readonly moved: ReadonlySet<string>;
  /** Lists of the run that may still be in progress. */
  readonly current: Observation | undefined;
  /** Nodes and machines of the same run. They are kept apart, because leases are listed once more in parallel if responses are slow. */
  readonly surroundings: Surroundings;
  /** Observations with all three lists, the latest first. */
  readonly complete: readonly Observation[];
  /** Successive runs that certainly failed and got no list of leases. */
  readonly unreachable: Unreachable | undefined;
  /** Resources of the requests at the beginning of such a run that have failed once and are retried. */
  readonly failedOnce: ReadonlySet<string>;
  /** End of the last long downtime of the API server, as its own responses showed it. */
  readonly downUntil: number;
}

const emptyView: View = {
  observations: 0,
  observedAt: 0,
  longestGapMs: 0,
  moved: new Set(),
  current: undefined,
  surroundings: {},
  complete: [],
  unreachable: undefined,
  failedOnce: new Set(),
  downUntil: Number.NEGATIVE_INFINITY,
};

/** Views by process and shoot. */
export type Views = ReadonlyMap<string, View>;

const downtimeMs = 15_000;
const remembered = 4;

export const viewOf = (views: Views, process: ProcessName, shoot: string): View =>
  views.get(`${process}/${shoot}`) ?? emptyView;

type Answer = Extract<SimEvent, { kind: 'request' }> & { readonly shoot: string };

const observed = (view: View, { at }: Answer, model: Model): View => {
  const { served } = model.ending ?? {};
  if (served?.model === undefined) return view;
  const { leases } = served.model;
  const before = view.current?.leases;
  const moved = [...leases].filter(([node, changedAt]) => before?.has(node) === true && before.get(node) !== changedAt);
  const { unreachable, surroundings } = view;
  const wasDown = unreachable?.hasFailed === true && at - unreachable.since >= downtimeMs;
  const known: View = {
    ...view,
    observations: view.observations + 1,
    observedAt: at,
    longestGapMs: view.observations === 0 ? 0 : Math.max(view.longestGapMs, at - view.observedAt),
    moved: moved.length === 0 ? view.moved : new Set([...view.moved, ...moved.map(([node]) => node)]),
    unreachable: undefined,
    downUntil: wasDown ? at : view.downUntil,
  };
  const lists = { servedAt: served.at, knownAt: at, leases, ...surroundings };
  return completed(known, lists);
};

const completed = (view: View, observation: Observation): View => {
  const isComplete = observation.nodes !== undefined && observation.machines !== undefined;
  const complete = isComplete ? [observation, ...view.complete].slice(0, remembered) : view.complete;
  return { ...view, current: observation, complete };
};

const surrounded = (view: View, at: number, shown: Surroundings): View => {
  const known = { ...view, surroundings: { ...view.surroundings, ...shown } };
  return view.current === undefined ? known : completed(known, { ...view.current, knownAt: at, ...shown });
};

const answered = (view: View, event: Answer, model: Model): View => {
  const { verb, resource, status, at } = event;
  if (status === undefined) return view;
  if (resource === '/version' && status < 400) {
    return { ...view, surroundings: {} };
  }
  if (verb !== 'list') return view;
  if (status !== 200) return view;
  const shown = model.ending?.served?.model;
  if (resource === 'leases') return observed(view, event, model);
  if (shown === undefined) return view;
  if (resource === 'nodes' && model.source === 'secret') {
    return surrounded(view, at, { nodes: shown.nodes, machines: shown.machines });
  }
  if (resource === 'nodes') return surrounded(view, at, { nodes: shown.nodes });
  if (resource === 'machines') return surrounded(view, at, { machines: shown.machines });
  return view;
};

const withoutAnswer = 0;

/** Tracks failed runs. A failed request is retried once, unless it got 429; the run has failed if the retry fails. The next run starts anew. */
const trackSpell = (view: View, event: Answer, sentAt: number): View => {
  const { resource, stage, status = withoutAnswer, isServerDown: isServerDown = false, isConnected = false } = event;
  if (resource !== '/version' && resource !== 'leases') return view;
  if (stage === 'answered' && status < 400) {
    return { ...view, failedOnce: new Set([...view.failedOnce].filter((other) => other !== resource)) };
  }
  if (status !== 429 && !view.failedOnce.has(resource)) {
    return { ...view, failedOnce: new Set([...view.failedOnce, resource]) };
  }
  const shows = status === withoutAnswer ? isServerDown && isConnected : status === 429 || status >= 500;
  const { since = sentAt, hasFailed = false } = view.unreachable ?? {};
  return { ...view, failedOnce: new Set(), unreachable: { since, hasFailed: hasFailed || shows } };
};

const ended = (view: View, event: Answer, model: Model): View => {
  const { stage, at, status = 0, exchange } = event;
  const isInside = exchange.server === event.shoot;
  const sentAt = model.ending?.sentAt ?? at;
  if (!isInside && exchange.server !== 'seed') return view;
  const hasFailed = stage === 'failed' || status >= 400;
  const known = isInside && hasFailed ? { ...view, surroundings: {} } : view;
  const tracked = isInside ? trackSpell(known, event, sentAt) : known;
  return stage === 'answered' ? answered(tracked, event, model) : tracked;
};

/** Moves `knownAt` of responses that arrived while the process was suspended to the time at which it resumes. */
const awake = (views: Views, process: ProcessName, { at, processes }: Model): Views => {
  const pausedAt = processes.stalls.findLast(
    ({ cause, replica }) => cause.fault.kind === 'pause' && process.startsWith(`${String(replica)}.`),
  )?.from;
  if (pausedAt === undefined) return views;
  const heard = (observation: Observation): Observation =>
    observation.knownAt < pausedAt ? observation : { ...observation, knownAt: at };
  return new Map(
    [...views].map(([key, view]) => {
      if (!key.startsWith(`${process}/`)) return [key, view];
      return [key, { ...view, current: view.current && heard(view.current), complete: view.complete.map(heard) }];
    }),
  );
};

/** Applies an event that `model` already includes. Pure. */
export const watch = (views: Views, event: SimEvent, model: Model): Views => {
  if (event.kind === 'process' && event.what === 'goes on') return awake(views, event.process, model);
  if (event.kind !== 'request' || event.shoot === undefined) return views;
  if (event.stage !== 'answered' && event.stage !== 'failed') return views;
  const { process } = event.exchange;
  const view = viewOf(views, process, event.shoot);
  const next = ended(view, { ...event, shoot: event.shoot }, model);
  if (next === view) return views;
  return new Map(views).set(`${process}/${event.shoot}`, next);
};
