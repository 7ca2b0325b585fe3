import type { ProcessName, SimEvent } from './history.ts';
import type { PlannedFault } from './plan.ts';
import { aftermathMs, hampersSeedAccess, replicaOf } from './hinders-protection.ts';

/** One process of a replica, from its start to its end. Monotonic times of the run, in milliseconds. */
export interface ProcessState {
  readonly startedAt: number;
  /** Time at which it first held the Lease; undefined if never. */
  readonly ledAt: number | undefined;
  readonly isRunning: boolean;
}

/** A period in which a fault kept watchdogs from reading or writing objects of the seed. */
export interface Stall {
  readonly from: number;
  /** Undefined while it lasts. */
  readonly to: number | undefined;
  /** The replica that it affects; undefined if it affects all. */
  readonly replica: number | undefined;
  readonly cause: PlannedFault;
}

export interface ProcessModel {
  readonly byName: ReadonlyMap<ProcessName, ProcessState>;
  readonly stalls: readonly Stall[];
  /** Times at which the configuration changed. */
  readonly reloads: readonly number[];
}

export const emptyProcesses: ProcessModel = { byName: new Map(), stalls: [], reloads: [] };

const ends: readonly string[] = ['is killed', 'receives SIGTERM', 'has ended'];

export const applyProcessEvent = (
  before: ProcessModel,
  { process, what, at }: Extract<SimEvent, { kind: 'process' }>,
): ProcessModel => {
  const known = before.byName.get(process) ?? { startedAt: at, ledAt: undefined, isRunning: true };
  const byName = new Map(before.byName).set(process, { ...known, isRunning: known.isRunning && !ends.includes(what) });
  return { ...before, byName };
};

export const applyLeadershipEvent = (before: ProcessModel, process: ProcessName, at: number): ProcessModel => {
  const known = before.byName.get(process);
  if (known === undefined || known.ledAt !== undefined) return before;
  return { ...before, byName: new Map(before.byName).set(process, { ...known, ledAt: at }) };
};

export const applyHindrance = (
  before: ProcessModel,
  { phase, planned, at }: Extract<SimEvent, { kind: 'fault' }>,
  replicas: number,
): ProcessModel => {
  const { fault } = planned;
  const reloads = fault.kind === 'reload' ? [...before.reloads, at] : before.reloads;
  if (!hampersSeedAccess(fault)) return before;
  const replica = replicaOf(fault);
  const stalls =
    phase === 'begins'
      ? [
          ...before.stalls,
          { from: at, to: undefined, replica: replica === undefined ? undefined : replica % replicas, cause: planned },
        ]
      : before.stalls.map((known) => (known.cause === planned ? { ...known, to: at } : known));
  return { ...before, stalls, reloads };
};

interface Spell {
  readonly from: number;
  /** Infinity while it lasts. */
  readonly to: number;
}

/** Returns the periods in which faults, or their later effects, hampered a process, in the order of time. Overlapping periods are merged. */
export const stalledSpells = ({ stalls }: ProcessModel, process: ProcessName): readonly Spell[] => {
  const spells: Spell[] = [];
  const own = stalls.filter(({ replica }) => replica === undefined || process.startsWith(`${String(replica)}.`));
  for (const { from, to, cause } of own.toSorted((a, b) => a.from - b.from)) {
    const end = to === undefined ? Number.POSITIVE_INFINITY : to + aftermathMs(cause.fault);
    const last = spells.at(-1);
    if (last !== undefined && from <= last.to) spells.splice(-1, 1, { from: last.from, to: Math.max(last.to, end) });
    else spells.push({ from, to: end });
  }
  return spells;
};

export const spellAt = (spells: readonly Spell[], instant: number): Spell | undefined =>
  spells.find(({ from, to }) => from <= instant && instant <= to);
