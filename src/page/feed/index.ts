import type { ProberStatus, ShootStatus } from '../../status/state/schema.ts';
import type { ShootState } from '../../status/state/states.ts';

/** Faults of the demo and their repairs. */
export type FaultKind = 'cut kubelets' | 'connect kubelets' | 'break etcd' | 'mend etcd';

/** Current faults of a shoot in the demo. */
export interface FaultsOfShoot {
  readonly namespace: string;
  readonly kubelets: 'cut' | 'connected';
  readonly etcd: 'down' | 'up';
}

/** A replica's view of the seed. */
export interface SeedView {
  readonly status: ProberStatus;
  /** Namespace of the replicas; absent without leader election. */
  readonly namespace?: string;
  /** Present only in the demo. */
  readonly faults?: readonly FaultsOfShoot[];
}

/** A point of the timeline; `at` is in milliseconds since the epoch. */
export interface PageSample {
  readonly at: number;
  /** Number of shoots by state; absent: 0. */
  readonly counts: Readonly<Partial<Record<ShootState, number>>>;
  /** Time that scale-downs left of KCM's grace period, of the held shoot with the least. Absent: none is held. */
  readonly margin?: { readonly ms: number; readonly graceMs: number };
}

/** The view without its shoots, which may be many. */
export type SeedHeader = Omit<SeedView, 'status'> & { readonly status: Omit<ProberStatus, 'shoots'> };

/** Changes of the seed since the previous message; with `all`, the whole seed. */
export interface SeedMessage extends SeedHeader {
  readonly all: boolean;
  readonly shoots: readonly ShootStatus[];
  /** Namespaces of the shoots that are gone. */
  readonly gone: readonly string[];
}

/** Messages by the name of the server-sent event. */
export interface FeedEvents {
  readonly seed: SeedMessage;
  /** All samples of the last hour in the first message, then each new one. */
  readonly samples: readonly PageSample[];
  /** One shoot with its details; null if there is no such shoot. */
  readonly shoot: ShootStatus | null;
}

const split = ({ status: { shoots, ...status }, ...view }: SeedView) => ({ header: { ...view, status }, shoots });

export const fullMessageOf = (view: SeedView): SeedMessage => {
  const { header, shoots } = split(view);
  return { ...header, all: true, shoots, gone: [] };
};

/** JSON of each shoot, by its namespace. */
export type ShootTexts = ReadonlyMap<string, string>;

export const textsOf = ({ status: { shoots } }: SeedView): ShootTexts =>
  new Map(shoots.map((shoot) => [shoot.namespace, JSON.stringify(shoot)]));

/** Returns a message with the shoots of which the JSON has changed. */
export const changesSince = (before: ShootTexts, view: SeedView, texts = textsOf(view)): SeedMessage => {
  const { header, shoots } = split(view);
  const changed = shoots.filter(({ namespace }) => before.get(namespace) !== texts.get(namespace));
  const gone = [...before.keys()].filter((namespace) => !texts.has(namespace));
  return { ...header, all: false, shoots: changed, gone };
};

/** Applies a message to the seed. Returns undefined if the first message has only changes. */
export const seedAfter = (before: SeedView | undefined, message: SeedMessage): SeedView | undefined => {
  const { all, shoots, gone, status, ...header } = message;
  if (all) return { ...header, status: { ...status, shoots } };
  if (before === undefined) return undefined;
  const changes = new Map(shoots.map((shoot) => [shoot.namespace, shoot]));
  const left = before.status.shoots.filter(({ namespace }) => !gone.includes(namespace));
  const kept = left.map((shoot) => changes.get(shoot.namespace) ?? shoot);
  const old = new Set(left.map(({ namespace }) => namespace));
  return {
    ...header,
    status: { ...status, shoots: [...kept, ...shoots.filter(({ namespace }) => !old.has(namespace))] },
  };
};

export const sampleOf = ({ status: { shoots } }: SeedView, at: number): PageSample => {
  const counts: Partial<Record<ShootState, number>> = {};
  for (const { state } of shoots) counts[state] = (counts[state] ?? 0) + 1;
  const margins = shoots.flatMap(({ held, marginMs: ms, graceMs }) =>
    ms === undefined || held.length === 0 ? [] : [{ ms, graceMs }],
  );
  return { at, counts, margin: margins.toSorted((a, b) => a.ms / a.graceMs - b.ms / b.graceMs)[0] };
};
