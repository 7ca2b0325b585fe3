import type { ReleasePolicy } from '../judge/lifecycle.ts';
import type { NextRun } from '../judge/next-run.ts';
import type { Decision } from '../judge/decision.ts';
import type { ProbeMemory } from '../judge/probe-memory.ts';
import type { Verdict } from '../judge/verdict.ts';
import type { DependentResource } from '../settings.ts';
import type { Flow, FlowEnd, SnapshotOf } from './flow.ts';
import type { Action, StepAnswer } from './operation.ts';
import type { Direction, ScalingScope } from './patch-plan.ts';
import type { Role } from './without-lead.ts';

/** What a shoot's prober wants done, whether or not a flow does it already. */
export interface DesiredScaling {
  readonly direction: Direction;
  readonly scope: ScalingScope;
  readonly reason: string;
  /** When the verdict was given. */
  readonly judgedAt: number;
  /** As `Decision.restsOnSeenRenewals`. */
  readonly restsOnSeenRenewals?: boolean;
}

/** Everything a shoot's prober remembers. Times are monotonic milliseconds. */
export interface ShootProberState extends NextRun {
  readonly probe: ProbeMemory;
  readonly runUnderWay: boolean;
  readonly verdict?: Verdict;
  readonly flow?: Flow;
  /** Flows so far; the number of the latest. */
  readonly flows: number;
  /** Direction of a flow that ended without knowing what became of its writes: the opposite one reads first. */
  readonly mustReread?: Direction;
  /** What is to start when the cancelled flow has ended, or when this process may. */
  readonly next?: DesiredScaling;
  /** This process has scaled the shoot down without the lead. */
  readonly scaledWithoutLead?: true;
  /** How many resources of the shoot were held when last looked at, whoever had scaled them down; absent: none. */
  readonly held?: number;
  /** Nothing might be scaled down when last looked at. */
  readonly wasPaused?: true;
  /** The leader has restored what was held, or a pause has ended for it as well: until then this standby leaves the shoot to the leader. */
  readonly leftToLeaderUntil?: number;
  /** Set when probing has ended: what is still to be done, and then how it went. */
  readonly releasePolicy?: ReleasePolicy;
  /** Why it is released, for log and Events; absent: the policy says it. */
  readonly releaseReason?: string;
  readonly releaseStarted?: boolean;
  readonly ended?: 'done' | 'failed';
}

export type ShootEvent =
  | { readonly kind: 'run-ended'; readonly decision: Decision }
  /** A run that was aborted or broke; the next tick holds. */
  | { readonly kind: 'run-broke'; readonly nextRunAt: number }
  /** The external probe is no longer reachable, or, with `isUnreachable`, unreachable for certain. */
  | { readonly kind: 'external-probe-turned'; readonly isUnreachable: boolean }
  | { readonly kind: 'answered'; readonly flow: number; readonly answer: StepAnswer }
  | { readonly kind: 'stop'; readonly releasePolicy: ReleasePolicy; readonly reason?: string };

export interface ShootContext {
  readonly now: number;
  /** The same instant in milliseconds since the epoch. */
  readonly wallNow: number;
  /** Of this process, for what it writes. */
  readonly identity: string;
  readonly snapshotOf: SnapshotOf;
  readonly resources: readonly DependentResource[];
  readonly probeIntervalMs: number;
  /** Milliseconds for which a watch of Clusters or dependents has been away; 0 while all are open. */
  readonly seedAwayMs: number;
  readonly role: Role;
  /** Until this monotonic instant, Infinity without an end, nothing is scaled down; absent: it may be. */
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
  /** Monotonic instant of the next step without an event; Infinity when only an event can bring one. */
  readonly wakeAt: number;
}
