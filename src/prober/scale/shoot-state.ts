import type { Decision } from '../judge/decision.ts';
import type { ProbeMemory } from '../judge/probe-memory.ts';
import type { Verdict } from '../judge/verdict.ts';
import type { DependentResource } from '../config/settings.ts';
import type { DesiredScaling, ProbingEnd } from './desired.ts';
import type { Action, ActionResponse } from './operation.ts';
import type { PermissionContext } from './permission.ts';
import type { Scaling, ScalingEnd, ScalingInput, SnapshotOf } from './scaling.ts';

/** State of a shoot's prober. Times are monotonic milliseconds. */
export interface ShootProberState {
  readonly nextRunAt: number;
  readonly probe: ProbeMemory;
  /** When the run under way began; absent: none is. */
  readonly runStartedAt?: number;
  readonly verdict?: Verdict;
  /** Absent: the resources are left as they are. */
  readonly desired?: DesiredScaling;
  /** The desired scaling in progress. Absent: nothing is left to do, or this process may not do it. */
  readonly scaling?: Scaling;
  /** No scaling starts before. */
  readonly nextScalingAt: number;
  /** `judgedAt` of the desired scaling that was started last, or had nothing to do. */
  readonly triedFor?: number;
  /** See `PermissionContext.unmetSince`. */
  readonly unmetSince?: number;
  /** Keys of the resources that were held at the previous step, whoever scaled them down. */
  readonly held: ReadonlySet<string>;
  /** When another writer last restored a held resource. Verdicts of runs that began before are older than that. */
  readonly restoredAt?: number;
  /** When the latest step asked to be followed by another. */
  readonly dueAt: number;
  /** Set when probing has ended. */
  readonly end?: ProbingEnd;
  /** Result of giving back what was held, at the end of probing. */
  readonly result?: 'done' | 'failed';
  /** The same, once no request is in flight any more. */
  readonly ended?: 'done' | 'failed';
}

export const initialState = (start: Pick<ShootProberState, 'probe' | 'nextRunAt'>): ShootProberState => ({
  ...start,
  nextScalingAt: Number.NEGATIVE_INFINITY,
  held: new Set(),
  dueAt: Number.POSITIVE_INFINITY,
});

export type ShootEvent =
  | { readonly kind: 'run-ended'; readonly decision: Decision }
  /** A run was aborted or threw an error; the next one starts at `nextRunAt`. */
  | { readonly kind: 'run-aborted'; readonly nextRunAt: number }
  /** The external probe finds the public address unreachable: the silence of all candidates may count sooner. */
  | { readonly kind: 'address-unreachable' }
  | { readonly kind: 'responded'; readonly response: ActionResponse }
  | { readonly kind: 'stop'; readonly end: ProbingEnd };

export interface ShootContext extends Omit<PermissionContext, 'unmetSince'> {
  /** `now` in milliseconds since the epoch. */
  readonly wallNow: number;
  readonly holder: ScalingInput['holder'];
  readonly snapshotOf: SnapshotOf;
  readonly resources: readonly DependentResource[];
  /** Keys of the resources that have a request in flight: at most one each. */
  readonly inFlight: ReadonlySet<string>;
}

export type Effect =
  | { readonly kind: 'start-run' }
  | { readonly kind: 'abort-run' }
  | { readonly kind: 'scaling-started'; readonly scaling: Scaling }
  | { readonly kind: 'send'; readonly scaling: Scaling; readonly action: Action }
  /** Requests of the scaling that are not sent yet are not sent any more. */
  | { readonly kind: 'scaling-ended'; readonly scaling: Scaling; readonly end: ScalingEnd };

export interface ShootStep {
  readonly state: ShootProberState;
  readonly effects: readonly Effect[];
  /** Monotonic instant of the next step without an event; Infinity if only an event can cause one. */
  readonly wakeAt: number;
}
