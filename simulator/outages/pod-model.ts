import type { SimEvent } from './history.ts';

/** A pod of a control plane. Monotonic times of the run, in milliseconds. */
export interface PodModel {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string | undefined;
  readonly bornAt: number;
  /** Time since which it has been crash-looping; undefined if it is not. */
  readonly crashLoopingSince: number | undefined;
  readonly isDeleting: boolean;
}

/** A period in which a service was ready. */
export interface ReadySpell {
  readonly from: number;
  /** Undefined while it lasts. */
  readonly to: number | undefined;
  /** Time at which the service had become unready before; undefined if it was ready when the world began. */
  readonly awaySince: number | undefined;
}

export interface ControlPlaneModel {
  /** Pods by UID. */
  readonly pods: ReadonlyMap<string, PodModel>;
  /** Periods by service, in the order of time. */
  readonly spells: ReadonlyMap<string, readonly ReadySpell[]>;
}

export const emptyControlPlane: ControlPlaneModel = { pods: new Map(), spells: new Map() };

export const applyPodEvent = (
  before: ControlPlaneModel,
  { uid, name, after, at }: Extract<SimEvent, { kind: 'pod' }>,
): ControlPlaneModel => {
  const pods = new Map(before.pods);
  if (after === undefined) {
    pods.delete(uid);
    return { ...before, pods };
  }
  const known = pods.get(uid);
  const { labels, owner, isDeleting, isCrashLooping } = after;
  const crashLoopingSince = isCrashLooping ? (known?.crashLoopingSince ?? at) : undefined;
  pods.set(uid, { name, labels, owner, bornAt: known?.bornAt ?? at, crashLoopingSince, isDeleting });
  return { ...before, pods };
};

export const learnService = (
  before: ControlPlaneModel,
  { name, isReady, at }: Extract<SimEvent, { kind: 'service' }>,
): ControlPlaneModel => {
  const known = before.spells.get(name) ?? [];
  const last = known.at(-1);
  const wasReady = last !== undefined && last.to === undefined;
  if (isReady === wasReady) return before;
  const spells = isReady
    ? [...known, { from: at, to: undefined, awaySince: last?.to ?? (at === 0 ? undefined : 0) }]
    : known.map((spell) => (spell === last ? { ...spell, to: at } : spell));
  return { ...before, spells: new Map(before.spells).set(name, spells) };
};
