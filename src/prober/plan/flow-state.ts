import type { Operation, Snapshot } from './operation.ts';
import type { Direction, ScalingScope } from './patch-plan.ts';
import type { WithoutLead } from './without-lead.ts';

/** The scaling of a shoot's dependent resources in one direction, level by level; advanced by `advanceFlow`. Times are monotonic milliseconds. */
export interface Flow {
  readonly id: number;
  readonly direction: Direction;
  readonly scope: ScalingScope;
  /** Explanation of its verdict, in words and numbers. */
  readonly reason: string;
  /** Why this process scales down although it is not the leader. Absent if it leads. */
  readonly withoutLead?: WithoutLead | undefined;
  readonly startedAt: number;
  /** The configured levels, in ascending order. */
  readonly levels: readonly number[];
  readonly startedLevels: number;
  readonly levelStartedAt: number;
  readonly operations: readonly Operation[];
  /** Time of the verdict's last confirmation. On a verdict older than `verdictMaxAgeMs` a scale-up starts no level and scales nothing. */
  readonly verdictAt: number;
  readonly verdictMaxAgeMs: number;
  /** Latest time at which the flow must be advanced. */
  readonly wakeAt: number;
  /** True if the process was suspended since the verdict, which may no longer be true: nothing is scaled until it is confirmed. */
  readonly wasSuspended?: boolean;
  /** Set if the flow sends no new requests and only awaits the responses to its writes in flight. */
  readonly ending?: 'failed' | 'cancelled';
}

export type FlowEnd = 'completed' | 'failed' | 'cancelled';

export type SnapshotOf = (key: string) => Snapshot;

/** The data that a step of a flow needs besides the flow. */
export interface FlowInput {
  readonly now: number;
  /** The same instant in milliseconds since the epoch. */
  readonly wallNow: number;
  /** Identity of this process, for the note on resources that it scales down. */
  readonly identity: string;
  readonly snapshotOf: SnapshotOf;
  /** Time for which a watch of Clusters or dependents has been interrupted, in milliseconds; 0 while all are open. */
  readonly watchesInterruptedMs: number;
}
