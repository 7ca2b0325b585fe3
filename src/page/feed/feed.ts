import type { ProbedShoot, ProberStatus } from '../../prober/status/schema.ts';

/** Who made what the page shows. */
export interface Origin {
  /** `leader`: the replica that leads, or the only one. `standby`: one that does not lead, because the leader's view could not be had. */
  readonly of: 'leader' | 'standby';
  /** Why the leader's view could not be had. */
  readonly problem?: string;
}

/** What can be done to a shoot of the demo. */
export type FaultKind = 'cut kubelets' | 'connect kubelets' | 'break etcd' | 'mend etcd';

/** What is done to a shoot of the demo. */
export interface FaultsOfShoot {
  readonly namespace: string;
  readonly kubelets: 'cut' | 'connected';
  readonly etcd: 'down' | 'up';
}

/** The seed as one replica knows it. */
export interface SeedView {
  readonly status: ProberStatus;
  readonly origin: Origin;
  /** Only in the demo. */
  readonly faults?: readonly FaultsOfShoot[];
}

/** The last hour: `at` is milliseconds since the epoch. */
export interface PageSample {
  readonly at: number;
  /** Shoots with something scaled down. */
  readonly held: number;
  /** Share of all candidates whose leases are expired, 0 to 1. */
  readonly expiredShare: number;
  /** The least time, in milliseconds, that a scale-down had left before KCM acted; null where none happened. */
  readonly marginMs: number | null;
}

/** Everything but the shoots, which are many. */
export type SeedHeader = Omit<SeedView, 'status'> & { readonly status: Omit<ProberStatus, 'shoots'> };

/** What changed of a seed since the message before; `all` starts over. */
export interface SeedMessage extends SeedHeader {
  readonly all: boolean;
  readonly shoots: readonly ProbedShoot[];
  /** Namespaces of those that are gone. */
  readonly gone: readonly string[];
}

/** By the name of the server-sent event. */
export interface FeedEvents {
  readonly seed: SeedMessage;
  /** The whole hour at first, then one by one. */
  readonly samples: readonly PageSample[];
  /** One shoot with its details; null where no such shoot is known. */
  readonly shoot: ProbedShoot | null;
}

const split = ({ status: { shoots, ...status }, ...view }: SeedView) => ({ header: { ...view, status }, shoots });

export const wholeOf = (view: SeedView): SeedMessage => {
  const { header, shoots } = split(view);
  return { ...header, all: true, shoots, gone: [] };
};

/** Shoots that are equal as JSON are left out. */
export const changesBetween = (before: SeedView, after: SeedView): SeedMessage => {
  const { header, shoots } = split(after);
  const known = new Map(before.status.shoots.map((shoot) => [shoot.namespace, JSON.stringify(shoot)]));
  const changed = shoots.filter((shoot) => known.get(shoot.namespace) !== JSON.stringify(shoot));
  for (const { namespace } of shoots) known.delete(namespace);
  return { ...header, all: false, shoots: changed, gone: [...known.keys()] };
};

/** The seed after a message; undefined where a change comes first, which changes nothing that is known. */
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
  const total = shoots.reduce((sum, { candidates }) => sum + candidates, 0);
  const expired = shoots.reduce((sum, shoot) => sum + shoot.expired, 0);
  const margins = shoots.flatMap(({ marginMs }) => marginMs ?? []);
  return {
    at,
    held: shoots.filter(({ held }) => held.length > 0).length,
    expiredShare: total === 0 ? 0 : expired / total,
    marginMs: margins.length === 0 ? null : Math.min(...margins),
  };
};
