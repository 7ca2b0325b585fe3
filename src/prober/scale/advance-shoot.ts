import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { Decision, ProbeMemory, Verdict } from '../judge/judgement.ts';
import type { DependentResource } from '../config/settings.ts';
import type { ProbingEnd } from '../clusters/lifecycle.ts';
import type { Action, ActionResponse } from './operation.ts';
import {
  desiredAtEnd,
  desiredBy,
  type DesiredScaling,
  type Permission,
  isPaused,
  isRecent,
  leaderTimeMs,
  permission,
  type PermissionContext,
} from './desired.ts';
import {
  advanceScaling,
  confirmScaling,
  createScaling,
  hasWork,
  hasWritten,
  restsUntil,
  type Scaling,
  type ScalingContext,
} from './scaling.ts';
import { isUp } from './snapshots.ts';

/** Enters events into the state, takes the next steps towards the desired scaling, and returns the effects to perform and the time of the next call. Pure. */
export const advanceShoot = (
  before: ShootProberState,
  events: readonly ShootEvent[],
  context: ShootContext,
): ShootStep => {
  const effects: Effect[] = [];
  let state = noteDoubt(before, context);
  for (const event of events) {
    if (event.kind === 'stop' && state.runStartedAt !== undefined) effects.push({ kind: 'abort-run' });
    state = enterEvent(state, event, context);
  }
  state = { ...state, unmet: unmetIn(before, state, context) };
  const since = state.unmet?.since;
  // A standby does not act on what comes up after its verdict, so it judges anew.
  const isRestored = since !== before.unmet?.since && since === context.now && before.desired?.direction === 'down';
  if (isRestored && !context.role.leads) state = { ...state, ...lookAgain(state, context.now) };
  const responses = events.flatMap((event) => (event.kind === 'responded' ? [event.response] : []));
  const scaled = scale(state, responses, context);
  effects.push(...scaled.effects);
  const { nextRunAt, runStartedAt, end } = scaled.state;
  const runs = end === undefined && runStartedAt === undefined && context.now >= nextRunAt;
  if (runs) effects.push({ kind: 'start-run' });
  const wakeAt = Math.min(scaled.wakeAt, wakeTimeOf(scaled.state, context));
  return {
    state: { ...scaled.state, ...(runs && { runStartedAt: context.now }), dueAt: wakeAt },
    effects,
    wakeAt,
  };
};

/** A step that is late by more than this time, in milliseconds, shows that the process or its machine was suspended: a busy CPU does not delay it so long. */
const suspensionMs = 10_000;

const wasSuspended = ({ dueAt }: Pick<ShootProberState, 'dueAt'>, now: number): boolean => now > dueAt + suspensionMs;

/** Doubts a verdict from before a suspension: it may no longer be true. The next run is then due at once. */
const noteDoubt = (state: ShootProberState, context: ShootContext): ShootProberState => {
  if (state.desired === undefined || !wasSuspended(state, context.now)) return state;
  return { ...state, desired: { ...state.desired, isDoubtful: true }, ...lookAgain(state, context.now) };
};

/** A back-off that the API server asked for holds. */
export const isThrottled = ({ verdict }: ShootProberState): boolean =>
  verdict?.kind === 'failed' && verdict.failure === 'throttled';

const lookAgain = (state: ShootProberState, at: number): Pick<ShootProberState, 'nextRunAt'> => ({
  nextRunAt: isThrottled(state) ? state.nextRunAt : Math.min(state.nextRunAt, at),
});

const enterEvent = (state: ShootProberState, event: ShootEvent, context: ShootContext): ShootProberState => {
  switch (event.kind) {
    case 'responded':
      return state;
    case 'address-unreachable':
      return { ...state, ...lookAgain(state, context.now) };
    case 'kubeconfig-changed':
      return state.verdict?.kind === 'failed' ? { ...state, ...lookAgain(state, context.now) } : state;
    case 'resume':
      return { ...state, end: undefined, desired: undefined, ...lookAgain(state, context.now) };
    case 'run-aborted':
      return { ...state, runStartedAt: undefined, nextRunAt: event.nextRunAt };
    case 'run-ended':
      return enterVerdict(state, event.decision, context);
    case 'stop': {
      const { end } = event;
      return { ...state, end, desired: desiredAtEnd(end, context.now), scaling: scalingUnderWay(state) };
    }
  }
};

const enterVerdict = (state: ShootProberState, decision: Decision, context: ShootContext): ShootProberState => {
  const { memory: probe, verdict, reason, nextRunAt } = decision;
  const scaling = scalingUnderWay(state);
  const judged = { ...state, nextRunAt, runStartedAt: undefined, probe, verdict };
  if (state.end !== undefined) return judged;
  // The outage is over: nothing more is scaled down, and nothing is restored yet.
  if (verdict.kind === 'landing' && !(scaling?.direction === 'up' && hasWritten(scaling))) {
    return { ...judged, desired: undefined };
  }
  const desired = desiredBy(verdict, { reason, judgedAt: context.now });
  if (desired === undefined) return judged;
  if (desired.direction === 'down' && mayBeRestoredSince(state, context)) {
    return { ...judged, ...lookAgain(judged, context.now) };
  }
  return { ...judged, desired };
};

/** True if a resource came up during the run of a standby: the leader may have restored it, on what the run has not seen. */
const mayBeRestoredSince = ({ runStartedAt, desired, unmet }: ShootProberState, { now, role }: ShootContext): boolean =>
  !role.leads && desired?.direction === 'down' && unmet !== undefined && (runStartedAt ?? now) < unmet.since;

/** A standby gives the leader at least a second after its own verdict, however long ago the threshold was crossed. */
const longestHeadStartMs = leaderTimeMs - 1_000;

/** Resources that are up although an outage requires them to be down. */
interface Unmet {
  /** Since when they are. With the verdict that began the outage, the time counts from the threshold. It counts anew when one comes up. */
  readonly since: number;
  readonly up: readonly string[];
}

const unmetIn = (before: ShootProberState, { desired }: ShootProberState, context: ShootContext): Unmet | undefined => {
  if (desired?.direction !== 'down' || isPaused(context)) return undefined;
  const isUnmet = (resource: DependentResource): boolean => isUp(resource, context.snapshotOf(refKey(resource.ref)));
  const up = context.resources.filter(isUnmet).map(({ ref }) => refKey(ref));
  if (up.length === 0) return undefined;
  const { desired: desiredBefore, unmet } = before;
  if (desiredBefore?.direction !== 'down') {
    return { since: Math.max(desired.since, context.now - longestHeadStartMs), up };
  }
  return { since: unmet !== undefined && up.every((key) => unmet.up.includes(key)) ? unmet.since : context.now, up };
};

/** A scale-down that has not begun this long after the threshold, in milliseconds, is reported as late. KCM's default grace period leaves ten seconds in all. */
export const timelyMs = 5_000;

const permissionIn = (state: ShootProberState, context: ShootContext): Permission =>
  state.desired === undefined ? 'refused' : permission(state.desired, { ...context, unmetSince: state.unmet?.since });

/** Returns whether a write of the scaling under way may still be sent: it may have waited. */
export const mayWriteNow = (state: ShootProberState, context: ShootContext): boolean =>
  !wasSuspended(state, context.now) && permissionIn(state, context) === 'granted';

/** Takes the next steps towards the desired scaling. */
const scale = (given: ShootProberState, responses: readonly ActionResponse[], context: ShootContext): ShootStep => {
  const permitted = permissionIn(given, context);
  const mayScale = permitted === 'granted';
  const isWanted = permitted !== 'refused' && given.scaling?.direction === given.desired?.direction;
  const state = beginScaling(isWanted ? given : { ...given, scaling: undefined }, mayScale, context);
  const { desired } = state;
  const keepsRetrying = desired?.direction === 'down' && isRecent(desired, context);
  const scaling = scalingUnderWay(state);
  const step = scaling && advanceScaling(scaling, { ...context, responses, mayScale, keepsRetrying });
  const next = step === undefined ? state : { ...state, scaling: step.scaling };
  const actions = step?.actions ?? [];
  return {
    state: endProbing(next, context.inFlight.size + actions.length),
    effects: effectsOf(given.scaling, next.scaling, actions),
    wakeAt: step?.wakeAt ?? Number.POSITIVE_INFINITY,
  };
};

/** Returns what a step sends, and tells that a scaling was dropped, has begun, or has come to rest. */
const effectsOf = (
  before: Scaling | undefined,
  after: Scaling | undefined,
  actions: readonly Action[],
): readonly Effect[] => {
  const isOther = before?.direction !== after?.direction || before?.startedAt !== after?.startedAt;
  const wasUnderWay = before !== undefined && before.rest === undefined;
  const effects: Effect[] = isOther && wasUnderWay ? [{ kind: 'scaling-ended', scaling: before }] : [];
  if (after === undefined) return effects;
  if (isOther) effects.push({ kind: 'scaling-started', scaling: after });
  effects.push(...actions.map((action): Effect => ({ kind: 'send', scaling: after, action })));
  if (after.rest !== undefined && (isOther || wasUnderWay)) effects.push({ kind: 'scaling-ended', scaling: after });
  return effects;
};

/**
 * Continues the scaling under way on the latest verdict, or begins one if there is something to do. A scale-up begins once for each verdict: if the
 * owner of a resource scales it to 0, as in a hibernation, the Cluster may show why a moment later.
 */
const beginScaling = (state: ShootProberState, mayScale: boolean, context: ShootContext): ShootProberState => {
  const { desired, scaling } = state;
  if (desired === undefined) return state;
  const { direction, since, judgedAt, isTried } = desired;
  const tried = { ...state, desired: { ...desired, isTried: true } };
  if (scaling !== undefined && scaling.rest === undefined) {
    return { ...tried, scaling: confirmScaling(scaling, desired, context.now) };
  }
  const rests = scaling?.rest !== undefined && context.now < restsUntil(scaling.rest, isTried);
  if (!mayScale || rests || (isTried && direction !== 'down')) return state;
  const withoutLead = context.role.leads ? undefined : whyWithoutLead(since, context.now);
  const begun = createScaling(desired, context, withoutLead);
  if (!hasWork(begun, context, isTried)) return tried;
  // The outage may be over: a pause has ended, a resource has changed, or this process leads from now on.
  if (direction === 'down' && context.now > judgedAt + freshMs) {
    if (state.verdict?.kind === 'unhealthy') return { ...state, ...lookAgain(state, context.now) };
    if (scaling === undefined && !isRecent(desired, context)) return state;
  }
  return { ...tried, scaling: begun };
};

/**
 * A scale-down that would begin later than this after its verdict, in milliseconds, looks again first. If that run fails, a first scaling begins only while the
 * verdict is recent; one at rest may begin again, because a write was refused, or undone by another writer.
 */
const freshMs = 3_000;

const whyWithoutLead = (since: number, now: number): string =>
  `not everything is scaled down ${((now - since) / 1_000).toFixed(1)} s after the threshold`;

/** Ends the prober once nothing is left to give back, and no request is in flight. */
const endProbing = (state: ShootProberState, inFlight: number): ShootProberState =>
  state.end === undefined || scalingUnderWay(state) !== undefined || inFlight > 0 ? state : { ...state, ended: true };

const wakeTimeOf = (state: ShootProberState, context: ShootContext): number => {
  const { now, role, pausedUntil = Number.POSITIVE_INFINITY } = context;
  const { end, runStartedAt, nextRunAt, unmet, desired, scaling } = state;
  const since = unmet?.since;
  const times = [
    pausedUntil,
    end === undefined && runStartedAt === undefined ? nextRunAt : Number.POSITIVE_INFINITY,
    role.mayStandIn && since !== undefined ? since + leaderTimeMs : Number.POSITIVE_INFINITY,
    since === undefined ? Number.POSITIVE_INFINITY : since + timelyMs,
    scaling?.rest === undefined ? Number.POSITIVE_INFINITY : restsUntil(scaling.rest, desired?.isTried),
  ];
  return Math.min(...times.filter((at) => at > now));
};

/** State of a shoot's prober. Times are monotonic milliseconds. */
export interface ShootProberState {
  readonly nextRunAt: number;
  readonly probe: ProbeMemory;
  /** When the run under way began; absent: none is. */
  readonly runStartedAt?: number;
  readonly verdict?: Verdict;
  /** Absent: the resources are left as they are. */
  readonly desired?: DesiredScaling;
  /** The scaling towards it, under way or at rest. Absent: there was nothing to do, or this process may not do it. */
  readonly scaling?: Scaling;
  /** Its `since`: see `PermissionContext.unmetSince`. */
  readonly unmet?: Unmet;
  /** When the latest step asked to be followed by another. */
  readonly dueAt: number;
  /** Set when probing has ended. */
  readonly end?: ProbingEnd;
  /** True once what was held has been given back, or could not be, and no request is in flight any more. */
  readonly ended?: true;
}

/** Returns the scaling that has something left to do. */
export const scalingUnderWay = ({ scaling }: Pick<ShootProberState, 'scaling'>): Scaling | undefined =>
  scaling?.rest === undefined ? scaling : undefined;

export const initialState = (start: Pick<ShootProberState, 'probe' | 'nextRunAt'>): ShootProberState => ({
  ...start,
  dueAt: Number.POSITIVE_INFINITY,
});

export type ShootEvent =
  | { readonly kind: 'run-ended'; readonly decision: Decision }
  /** A run was aborted or threw an error; the next one starts at `nextRunAt`. */
  | { readonly kind: 'run-aborted'; readonly nextRunAt: number }
  /** The external probe finds the public address unreachable: the silence of all candidates may count sooner. */
  | { readonly kind: 'address-unreachable' }
  | { readonly kind: 'kubeconfig-changed' }
  | { readonly kind: 'responded'; readonly response: ActionResponse }
  | { readonly kind: 'stop'; readonly end: ProbingEnd }
  /** Probing begins again before what is held has been given back. */
  | { readonly kind: 'resume' };

export interface ShootContext extends ScalingContext, Omit<PermissionContext, 'now' | 'unmetSince'> {}

export type Effect =
  | { readonly kind: 'start-run' }
  | { readonly kind: 'abort-run' }
  | { readonly kind: 'scaling-started'; readonly scaling: Scaling }
  | { readonly kind: 'send'; readonly scaling: Scaling; readonly action: Action }
  /** The scaling has come to rest, or was dropped. Its requests that are not sent yet are not sent any more. */
  | { readonly kind: 'scaling-ended'; readonly scaling: Scaling };

export interface ShootStep {
  readonly state: ShootProberState;
  readonly effects: readonly Effect[];
  /** Monotonic instant of the next step without an event; Infinity if only an event can cause one. */
  readonly wakeAt: number;
}
