import type { Life, SimEvent } from './history.ts';
import { type Model, exchangeKey } from './model.ts';

/** Deletes of pods of one controller owner by one process. Monotonic times of the run, in milliseconds. */
export interface Batches {
  /** So far, the one under way included. */
  readonly count: number;
  /** Of this batch. */
  readonly beganAt: number;
  /** UIDs of the owner's pods that were there when this batch began. */
  readonly members: ReadonlySet<string>;
  /** Those that were there when the next batch may have begun, with a pod of this one. */
  readonly nextMembers?: ReadonlySet<string>;
  readonly lastAt: number;
}

/** By process and owner. */
export type BatchesByOwner = ReadonlyMap<string, Batches>;

/** Waits between two batches, and when all is forgotten. */
const waitsMs: readonly number[] = [10_000, 20_000, 40_000, 80_000];
export const longestWaitMs = 80_000;
const forgetMs = 600_000;
const resolutionMs = 1;

export const waitOf = ({ count }: Batches): number => waitsMs[count - 1] ?? longestWaitMs;

/** A pod whose deletion a watchdog has begun. */
export interface LandedDelete {
  readonly shoot: string;
  readonly name: string;
  readonly uid: string;
  readonly owner: string | undefined;
  readonly life: Life;
  readonly sentAt: number;
  readonly event: Extract<SimEvent, { kind: 'pod' }>;
}

/** Undefined for everything else. */
export const landedDelete = (event: SimEvent, model: Model): LandedDelete | undefined => {
  if (event.kind !== 'pod' || event.writer === 'world' || event.before === undefined) return undefined;
  if (event.before.isDeleting || event.after?.isDeleting === false) return undefined;
  const { shoot, name, uid, before, writer } = event;
  const sentAt = model.exchanges.get(exchangeKey(writer))?.sentAt ?? model.at;
  return { shoot, name, uid, owner: before.owner, life: writer.life, sentAt, event };
};

export interface BatchStep {
  readonly batches: BatchesByOwner;
  /** How long before its time this delete came. */
  readonly earlyMs: number;
}

/** Takes in a delete: of the batch under way if the pod was there when that began, of the next otherwise. Pure. */
export const takeDelete = (before: BatchesByOwner, landed: LandedDelete, model: Model): BatchStep => {
  const { life, owner = '', uid, shoot } = landed;
  const key = `${life}/${owner}`;
  const { at } = model;
  const known = before.get(key);
  const put = (batches: Batches): BatchesByOwner => new Map(before).set(key, batches);
  const pods = [...(model.shoots.get(shoot)?.controlPlane.pods ?? [])];
  const there = pods.filter(([, pod]) => pod.owner === owner && pod.bornAt < at).map(([member]) => member);
  const present = new Set([...there, uid]);
  if (known === undefined || at - known.lastAt >= forgetMs) {
    return { batches: put({ count: 1, beganAt: at, members: present, lastAt: at }), earlyMs: 0 };
  }
  const earlyMs = known.lastAt + waitOf(known) - at;
  const mayBegin = earlyMs <= resolutionMs;
  if (known.members.has(uid)) {
    return { batches: put({ ...known, ...(mayBegin ? { nextMembers: present } : {}), lastAt: at }), earlyMs: 0 };
  }
  const next = { count: known.count + 1, beganAt: at, lastAt: at };
  if (!mayBegin && known.nextMembers?.has(uid) === true) {
    return { batches: put({ ...next, members: known.nextMembers }), earlyMs: 0 };
  }
  return { batches: put({ ...next, members: present }), earlyMs: mayBegin ? 0 : earlyMs };
};
