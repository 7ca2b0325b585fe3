import type { ReleasePolicy } from '../judge/lifecycle.ts';
import type { Decision } from '../judge/decision.ts';
import type { ProbeMemory } from '../judge/probe-memory.ts';
import type { Verdict } from '../judge/verdict.ts';
import type { DependentResource } from '../settings.ts';
import type { Flow, FlowEnd, SnapshotOf } from './flow-state.ts';
import type { Action, ActionResponse } from './operation.ts';
import type { Direction, ScalingScope } from './patch-plan.ts';
import type { Role } from './without-lead.ts';

/** The scaling that a shoot's verdict requires, regardless of any flow in progress. */
export interface DesiredScaling {
  readonly direction: Direction;
  readonly scope: ScalingScope;
  readonly reason: string;
  /** Monotonic instant of the verdict. */
  readonly judgedAt: number;
  /** See `Decision.hasObservedRenewals`. */
  readonly hasObservedRenewals?: boolean;
}

/** State of a shoot's prober. Times are monotonic milliseconds. */
export interface ShootProberState {
  readonly nextRunAt: number;
  readonly probe: ProbeMemory;
  readonly runUnderWay: boolean;
  readonly verdict?: Verdict;
  readonly flow?: Flow;
  /** Number of flows so far, which is the id of the latest. */
  readonly flows: number;
  /** Direction of a flow that ended without knowing if its writes took effect. A flow in the opposite direction reads first. */
  readonly mustReread?: Direction;
  /** The scaling to start when the cancelled flow has ended, or when this process is allowed to. */
  readonly pending?: DesiredScaling;
  /** True if this process has scaled the shoot down without the lead. */
  readonly scaledWithoutLead?: true;
  /** Number of the shoot's held resources at the previous step, regardless of the process that scaled them down. Absent if there were none. */
  readonly heldCount?: number;
  /** When that number last changed. */
  readonly heldChangedAt?: number;
  /** True if a pause was in force at the previous step. */
  readonly wasPaused?: true;
  /** Until this instant a standby leaves the shoot to the leader, because the leader has restored it, or because a pause has just ended for both. */
  readonly leftToLeaderUntil?: number;
  /** Set when probing has ended: the release to carry out. `releaseStarted` and `ended` show its progress. */
  readonly releasePolicy?: ReleasePolicy;
  /** Reason for the release, for log and Events. Absent: the reason is derived from the policy. */
  readonly releaseReason?: string;
  readonly releaseStarted?: boolean;
  readonly ended?: 'done' | 'failed';
}

export type ShootEvent =
  | { readonly kind: 'run-ended'; readonly decision: Decision }
  /** A run was aborted or threw an error; the next one starts at `nextRunAt`. */
  | { readonly kind: 'run-aborted'; readonly nextRunAt: number }
  /** The external probe finds the public address unreachable: the silence of all candidates may count sooner. */
  | { readonly kind: 'address-unreachable' }
  | { readonly kind: 'responded'; readonly flow: number; readonly response: ActionResponse }
  | { readonly kind: 'stop'; readonly releasePolicy: ReleasePolicy; readonly reason?: string };

export interface ShootContext {
  readonly now: number;
  /** The same instant in milliseconds since the epoch. */
  readonly wallNow: number;
  /** Identity of this process, for the note on resources that it scales down. */
  readonly identity: string;
  readonly snapshotOf: SnapshotOf;
  readonly resources: readonly DependentResource[];
  readonly probeIntervalMs: number;
  /** Time for which a watch of Clusters or dependents has been interrupted, in milliseconds; 0 while all are open. */
  readonly watchesInterruptedMs: number;
  readonly role: Role;
  /** Monotonic end of the pause, before which nothing is scaled down; Infinity if it has none. Absent without a pause. */
  readonly pausedUntil?: number | undefined;
}

export type Effect =
  | { readonly kind: 'start-run' }
  | { readonly kind: 'abort-run' }
  | { readonly kind: 'send'; readonly flow: Flow; readonly action: Action }
  /** From now on, changes of the resources wake the loop. */
  | { readonly kind: 'flow-started'; readonly flow: Flow }
  | { readonly kind: 'flow-ended'; readonly flow: Flow; readonly end: FlowEnd };

export interface ShootStep {
  readonly state: ShootProberState;
  readonly effects: readonly Effect[];
  /** Monotonic instant of the next step without an event; Infinity if only an event can cause one. */
  readonly wakeAt: number;
}
