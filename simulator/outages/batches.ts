import type { ProcessName, SimEvent } from './history.ts';
import { type Model, sentAtOf } from './model.ts';

/** Deletes of pods of one controller owner by one process. Monotonic times of the run, in milliseconds. */
export interface Batches {
  /** Number of batches so far, including the current one. */
  readonly count: number;
  /** Beginning of the current batch. */
  readonly beganAt: number;
  /** UIDs of the owner's pods that existed when the current batch began. */
  readonly members: ReadonlySet<string>;
  /** UIDs of the owner's pods that existed when a pod of the current batch was deleted so late that the next batch may have begun. */
  readonly nextMembers?: ReadonlySet<string>;
  readonly lastAt: number;
}

/** Batches by process and owner. */
export type BatchesByOwner = ReadonlyMap<string, Batches>;

/** Back-off between two batches. It is reset when the last delete is `forgetMs` ago. */
const waitsMs: readonly number[] = [10_000, 20_000, 40_000, 80_000];
export const longestWaitMs = 80_000;
const forgetMs = 600_000;
const resolutionMs = 1;

export const waitOf = ({ count }: Batches): number => waitsMs[count - 1] ?? longestWaitMs;

/** A delete of a pod by a watchdog that the API server has carried out. */
export interface LandedDelete {
  readonly shoot: string;
  readonly name: string;
  readonly uid: string;
  readonly owner: string | undefined;
  readonly process: ProcessName;
  readonly sentAt: number;
  readonly event: Extract<SimEvent, { kind: 'pod' }>;
}

/** Returns the delete that an event shows; undefined for all other events. */
export const landedDelete = (event: SimEvent, model: Model): LandedDelete | undefined => {
  if (event.kind !== 'pod' || event.writer === 'world' || event.before === undefined) return undefined;
  if (event.before.isDeleting || event.after?.isDeleting === false) return undefined;
  const { shoot, name, uid, before, writer } = event;
  const sentAt = sentAtOf(model, writer);
  return { shoot, name, uid, owner: before.owner, process: writer.process, sentAt, event };
};

export interface BatchStep {
  readonly batches: BatchesByOwner;
  /** Time by which the delete was too early; 0 if it was not. */
  readonly earlyMs: number;
}

/** Adds a delete: to the current batch if the pod existed when that began, otherwise to the next one. Pure. */
export const takeDelete = (before: BatchesByOwner, landed: LandedDelete, model: Model): BatchStep => {
  const { process, owner = '', uid, shoot } = landed;
  const key = `${process}/${owner}`;
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
