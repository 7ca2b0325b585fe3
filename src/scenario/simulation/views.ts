import type { Life, SimEvent } from './history.ts';
import type { ShootTruth, Truth } from './truth.ts';

/** A list of leases that was answered to a process, with the lists of nodes and machines that followed in the same run. */
export interface Look {
  /** When the leases were served. */
  readonly servedAt: number;
  /** When the last of the lists had arrived. */
  readonly knownAt: number;
  readonly leases: ShootTruth['leases'];
  readonly nodes?: ShootTruth['nodes'];
  readonly machines?: ShootTruth['machines'];
}

/** What one process has been shown of one shoot. */
export interface View {
  /** Lists of leases that were answered. */
  readonly looks: number;
  readonly lookedAt: number;
  /** The longest time between two of them. */
  readonly longestGapMs: number;
  /** Leases that changed from one look to a later one. */
  readonly moved: ReadonlySet<string>;
  /** Of the run that may still be under way. */
  readonly current: Look | undefined;
  /** Looks with all three lists, the latest first. */
  readonly complete: readonly Look[];
  /** First of the failed requests since the last look, of those that say that the server's side was down. */
  readonly darkSince: number | undefined;
  /** End of the last time that it was dark for long. */
  readonly darkUntil: number;
}

const emptyView: View = {
  looks: 0,
  lookedAt: 0,
  longestGapMs: 0,
  moved: new Set(),
  current: undefined,
  complete: [],
  darkSince: undefined,
  darkUntil: Number.NEGATIVE_INFINITY,
};

/** By process and shoot. */
export type Views = ReadonlyMap<string, View>;

const darkSpellMs = 15_000;
const remembered = 4;

export const viewOf = (views: Views, life: Life, shoot: string): View => views.get(`${life}/${shoot}`) ?? emptyView;

type Answer = Extract<SimEvent, { kind: 'request' }> & { readonly shoot: string };

const looked = (view: View, { at }: Answer, truth: Truth): View => {
  const { served } = truth.ending ?? {};
  if (served?.truth === undefined) return view;
  const { leases } = served.truth;
  const before = view.current?.leases;
  const moved = [...leases].filter(([node, changedAt]) => before?.has(node) === true && before.get(node) !== changedAt);
  const wasDark = view.darkSince !== undefined && at - view.darkSince >= darkSpellMs;
  return {
    ...view,
    looks: view.looks + 1,
    lookedAt: at,
    longestGapMs: view.looks === 0 ? 0 : Math.max(view.longestGapMs, at - view.lookedAt),
    moved: moved.length === 0 ? view.moved : new Set([...view.moved, ...moved.map(([node]) => node)]),
    current: { servedAt: served.at, knownAt: at, leases },
    darkSince: undefined,
    darkUntil: wasDark ? at : view.darkUntil,
  };
};

const completed = (view: View, current: Look): View => {
  const isComplete = current.nodes !== undefined && current.machines !== undefined;
  return { ...view, current, complete: isComplete ? [current, ...view.complete].slice(0, remembered) : view.complete };
};

const answered = (view: View, event: Answer, truth: Truth): View => {
  const { verb, resource, status, at } = event;
  if (status === undefined || verb !== 'list') return view;
  if (status >= 500) return { ...view, darkSince: view.darkSince ?? truth.ending?.sentAt ?? at };
  if (status !== 200) return view;
  const { current } = view;
  const shown = truth.ending?.served?.truth;
  if (resource === 'leases') return looked(view, event, truth);
  if (current === undefined || shown === undefined) return view;
  if (resource === 'nodes') return completed(view, { ...current, knownAt: at, nodes: shown.nodes });
  if (resource === 'machines') return completed(view, { ...current, knownAt: at, machines: shown.machines });
  return view;
};

/** Takes in what happened; `truth` has taken it in already. Pure. */
export const watch = (views: Views, event: SimEvent, truth: Truth): Views => {
  if (event.kind !== 'request' || event.shoot === undefined) return views;
  const { life } = event.exchange;
  const view = viewOf(views, life, event.shoot);
  const about = { ...event, shoot: event.shoot };
  const isShoots = event.exchange.server === event.shoot;
  const darkened =
    event.stage === 'failed' && isShoots && event.isDark === true
      ? { ...view, darkSince: view.darkSince ?? truth.ending?.sentAt ?? event.at }
      : view;
  const next = event.stage === 'answered' ? answered(darkened, about, truth) : darkened;
  return next === view ? views : new Map(views).set(`${life}/${event.shoot}`, next);
};
