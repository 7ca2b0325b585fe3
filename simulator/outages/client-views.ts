import type { ProcessName, SimEvent } from './history.ts';
import {
  type ExternalProbeResponses,
  noExternalProbeResponses,
  addResponse,
  addFailure,
} from './external-probe-responses.ts';
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
  /** Results of the external probe when the last of the lists arrived. */
  readonly externalProbe: ExternalProbeResponses;
  /** True if most public addresses were then certainly unreachable for us alone. */
  readonly isFaultOurs: boolean;
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
  /** Time at which a request to the internal address last failed. */
  readonly failedAt: number;
  /** Time at which the latest successful `GET /version` to the internal address was sent. */
  readonly answeredAt: number;
  /** Time at which the earlier of two lists was served between which some lease last changed. */
  readonly renewedSince: number;
  readonly externalProbe: ExternalProbeResponses;
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
  failedAt: Number.NEGATIVE_INFINITY,
  answeredAt: Number.NEGATIVE_INFINITY,
  renewedSince: Number.NEGATIVE_INFINITY,
  externalProbe: noExternalProbeResponses,
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
  const { unreachable, externalProbe, surroundings } = view;
  const wasDown = unreachable?.hasFailed === true && at - unreachable.since >= downtimeMs;
  const known: View = {
    ...view,
    observations: view.observations + 1,
    observedAt: at,
    longestGapMs: view.observations === 0 ? 0 : Math.max(view.longestGapMs, at - view.observedAt),
    moved: moved.length === 0 ? view.moved : new Set([...view.moved, ...moved.map(([node]) => node)]),
    renewedSince: moved.length === 0 ? view.renewedSince : (view.current?.servedAt ?? view.renewedSince),
    unreachable: undefined,
    downUntil: wasDown ? at : view.downUntil,
  };
  const lists = { servedAt: served.at, knownAt: at, leases, ...surroundings };
  return completed(known, { ...lists, externalProbe, isFaultOurs: false });
};

const completed = (view: View, observation: Observation): View => {
  const isComplete = observation.nodes !== undefined && observation.machines !== undefined;
  const current = { ...observation, externalProbe: view.externalProbe };
  return { ...view, current, complete: isComplete ? [current, ...view.complete].slice(0, remembered) : view.complete };
};

const surrounded = (view: View, at: number, shown: Surroundings): View => {
  const known = { ...view, surroundings: { ...view.surroundings, ...shown } };
  return view.current === undefined ? known : completed(known, { ...view.current, knownAt: at, ...shown });
};

const answered = (view: View, event: Answer, model: Model): View => {
  const { verb, resource, status, at } = event;
  if (status === undefined) return view;
  if (resource === '/version' && status < 400) {
    return { ...view, answeredAt: model.ending?.sentAt ?? at, surroundings: {} };
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
  const { stage, at, status = 0, exchange, isServerDown } = event;
  const isInside = exchange.server === event.shoot;
  const sentAt = model.ending?.sentAt ?? at;
  if (!isInside && exchange.server !== 'seed') {
    if (stage === 'failed' && isServerDown === undefined) return view;
    const attempt = { before: view.externalProbe, sentAt, at, insideAnsweredAt: view.answeredAt };
    return {
      ...view,
      externalProbe: isServerDown === undefined ? addResponse(attempt, status) : addFailure(attempt, isServerDown),
    };
  }
  const hasFailed = stage === 'failed' || status >= 400;
  const known = isInside && hasFailed ? { ...view, failedAt: at, surroundings: {} } : view;
  const tracked = isInside ? trackSpell(known, event, sentAt) : known;
  return stage === 'answered' ? answered(tracked, event, model) : tracked;
};

/** Age up to which a lease counts as renewed just now: kubelets renew every 10 s. */
const freshMs = 13_000;
const fewest = 3;

/** True if most public addresses are unreachable and leases are renewed. Only certain cases count: a process may notice it a moment later. */
const isFaultOurs = (views: Views, process: ProcessName, { at, shoots }: Model): boolean => {
  const prefix = `${process}/`;
  const own = [...views].filter(([key]) => key.startsWith(prefix));
  const judged = own.filter(
    ([, { externalProbe }]) => externalProbe.answeredAt > Number.NEGATIVE_INFINITY || externalProbe.failures > 0,
  );
  const broken = judged.filter(([key, { externalProbe, failedAt, observedAt, renewedSince, current }]) => {
    // An address is unknown if its kubeconfig has been unusable since.
    const isKnown = (shoots.get(key.slice(prefix.length))?.spoiledUntil ?? at) < externalProbe.failingSince;
    const isRenewed = externalProbe.brokenAt < at && renewedSince > externalProbe.failingSince + 1_000;
    const isFresh = [...(current?.leases.values() ?? [])].some((changedAt) => observedAt - changedAt < freshMs);
    return externalProbe.failures >= 3 && isKnown && isRenewed && isFresh && failedAt < observedAt;
  });
  return broken.length >= fewest && broken.length * 2 > judged.length;
};

/** Resets the results of the external probe: a process that stops probing a shoot forgets them. */
const withoutExternalProbe = (views: Views, shoot: string): Views =>
  new Map(
    [...views].map(([key, view]) => [
      key,
      key.endsWith(`/${shoot}`) ? { ...view, externalProbe: noExternalProbeResponses } : view,
    ]),
  );

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
  if (event.kind === 'cluster') {
    const goesOn = event.phase === 'run' || event.phase === 'leave' || event.phase === 'missing';
    return goesOn ? views : withoutExternalProbe(views, event.shoot);
  }
  if (event.kind === 'process' && event.what === 'goes on') return awake(views, event.process, model);
  if (event.kind !== 'request' || event.shoot === undefined) return views;
  if (event.stage !== 'answered' && event.stage !== 'failed') return views;
  const { process } = event.exchange;
  const view = viewOf(views, process, event.shoot);
  const next = ended(view, { ...event, shoot: event.shoot }, model);
  if (next === view) return views;
  const known = new Map(views).set(`${process}/${event.shoot}`, next);
  const [latest, ...others] = next.complete;
  if (latest === view.complete[0] || latest === undefined || !isFaultOurs(known, process, model)) return known;
  const complete = [{ ...latest, isFaultOurs: true }, ...others];
  return known.set(`${process}/${event.shoot}`, { ...next, complete });
};
