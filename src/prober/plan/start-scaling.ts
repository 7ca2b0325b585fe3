import { hasMark, ignoresScaling } from '../../annotations/scaling-annotations.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { Verdict } from '../judge/verdict.ts';
import { type FlowPlan, createFlow, hasWork } from './create-flow.ts';
import { cancelFlow, confirmFlow } from './flow.ts';
import { mustAwaitWatches } from './flow-levels.ts';
import { isPaused } from './pause.ts';
import type { DesiredScaling, ShootContext, ShootProberState } from './shoot-state.ts';
import { type WithoutLeadInput, leaderTimeMs, whyWithoutLead } from './without-lead.ts';

export const desiredScaling = (
  verdict: Verdict,
  given: Pick<DesiredScaling, 'reason' | 'judgedAt' | 'hasObservedRenewals'>,
): DesiredScaling | undefined => {
  switch (verdict.kind) {
    case 'unhealthy':
      return { direction: 'down', scope: 'all', ...given };
    case 'healthy':
      return { direction: 'up', scope: verdict.scope, ...given };
    case 'skipped':
    case 'confirming':
    case 'landing':
    case 'failed':
      return undefined;
  }
};

/** Adjusts the flow to a verdict: the same verdict confirms it, the opposite one cancels it. Without a verdict it stays as it is. */
export const reconcile = (
  state: ShootProberState,
  desired: DesiredScaling | undefined,
  context: ShootContext,
): ShootProberState => {
  const { flow } = state;
  if (desired === undefined) return flow === undefined ? dropPending(state) : state;
  if (flow === undefined) return startOrQueue(state, desired, context);
  if (flow.ending === 'cancelled') return { ...state, pending: desired };
  if (flow.direction === desired.direction) return { ...state, flow: confirmFlow(flow, desired) };
  return { ...state, flow: cancelFlow(flow), pending: desired };
};

export const dropPending = ({ pending: _, ...state }: ShootProberState): ShootProberState => state;

/**
 * Starts a scaling that this process may start: only the leader restores, a standby scales down if the leader cannot be at work, and nobody scales down during
 * a pause. Otherwise the scaling waits in `pending` until it is allowed, or until the next verdict.
 */
export const startOrQueue = (
  state: ShootProberState,
  desired: DesiredScaling,
  context: ShootContext & { readonly readFirst?: boolean },
): ShootProberState => {
  if (desired.direction === 'down' && isPaused(context)) return { ...state, pending: desired };
  const { mustReread } = state;
  const { readFirst = mustReread !== undefined && mustReread !== desired.direction } = context;
  if (context.role.leads) return startFlow(state, desired, { ...context, readFirst });
  const withoutLead = desired.direction === 'down' ? whyWithoutLead(situationOf(state, desired, context)) : undefined;
  return withoutLead === undefined
    ? { ...state, pending: desired }
    : startFlow(state, { ...desired, withoutLead }, { ...context, readFirst });
};

/** Cancels a scale-down when a pause begins. If the pause ends before the next verdict, the scale-down continues. */
export const cancelPaused = (state: ShootProberState, context: ShootContext): ShootProberState => {
  const { flow } = state;
  if (flow?.direction !== 'down' || flow.ending !== undefined || !isPaused(context)) return state;
  const { scope, reason, verdictAt: judgedAt } = flow;
  const pending: DesiredScaling = {
    direction: 'down',
    scope,
    reason,
    judgedAt,
    hasObservedRenewals: flow.withoutLead !== undefined,
  };
  return { ...state, flow: cancelFlow(flow), pending };
};

const situationOf = (
  { verdict, leftToLeaderUntil = Number.NEGATIVE_INFINITY, heldCount = 0, heldChangedAt }: ShootProberState,
  { judgedAt, hasObservedRenewals = false }: DesiredScaling,
  context: ShootContext,
): WithoutLeadInput => ({
  now: context.now,
  role: context.role,
  verdict,
  judgedAt,
  hasObservedRenewals,
  verdictMaxAgeMs: 2 * context.probeIntervalMs,
  isUnmet: isUnmet(context),
  progressAt: heldCount === 0 ? Number.NEGATIVE_INFINITY : (heldChangedAt ?? context.now),
  leftToLeaderUntil,
});

/** True if a resource is up that a scale-down would scale down. */
const isUnmet = ({ resources, snapshotOf }: ShootContext): boolean =>
  resources.some(({ ref, scaleDown }) => {
    const snapshot = snapshotOf(refKey(ref));
    if (scaleDown === undefined || snapshot.kind !== 'state') return false;
    return snapshot.state.specReplicas > 0 && !ignoresScaling(snapshot.state);
  });

const countHeld = ({ resources, snapshotOf }: ShootContext): number =>
  resources.filter(({ ref }) => {
    const snapshot = snapshotOf(refKey(ref));
    return snapshot.kind === 'state' && hasMark(snapshot.state);
  }).length;

/** Starts the pending scaling, as when this process becomes leader or a pause ends. After a suspension its verdict may be too old: the next run decides. */
export const startPending = (state: ShootProberState, context: ShootContext): ShootProberState => {
  const { pending } = state;
  if (state.flow !== undefined || pending === undefined || state.releasePolicy !== undefined) return state;
  if (pending.direction === 'down' && context.now - pending.judgedAt > 2 * context.probeIntervalMs) return state;
  return startOrQueue(state, pending, context);
};

/** Time, in milliseconds, for which a standby leaves a shoot to the leader after the leader restored resources that the standby had scaled down. */
const leftToLeaderMs = 600_000;

/** The same after the leader restored resources that it had scaled down itself: longer than a run that began before. */
const standBackMs = 10_000;

/**
 * Notes that held resources were restored. That drops a pending scale-down, because its evidence is older; and a standby then leaves the shoot to the leader
 * for a while.
 *
 * This applies to the whole shoot: a standby with an older verdict once scaled down MCM, which an annotation had prevented before, just after the leader had
 * restored KCM; and a standby that became leader between the restorations of KCM and MCM once scaled KCM down again.
 */
export const noteRestoration = (state: ShootProberState, context: ShootContext): ShootProberState => {
  const heldCount = countHeld(context);
  const { heldCount: before = 0, ...rest } = state;
  if (heldCount > 0) {
    const seen = heldCount === before ? state : { ...state, heldCount, heldChangedAt: context.now };
    if (state.flow !== undefined || heldCount >= before) return seen;
    return context.role.leads ? dropPending(seen) : leaveToLeader(dropPending(seen), context.now + standBackFor(state));
  }
  const { scaledWithoutLead, ...restored } = rest;
  if (state.flow !== undefined || (before === 0 && scaledWithoutLead === undefined)) return state;
  if (context.role.leads) return dropPending(restored);
  return leaveToLeader(dropPending(restored), context.now + standBackFor(state));
};

const standBackFor = ({ scaledWithoutLead }: ShootProberState): number =>
  scaledWithoutLead === undefined ? standBackMs : leftToLeaderMs;

const leaveToLeader = (state: ShootProberState, until: number): ShootProberState => ({
  ...state,
  leftToLeaderUntil: Math.max(state.leftToLeaderUntil ?? until, until),
});

/** Applies the end of a pause. A standby then gives the leader its time again, because the leader could not write until now. */
export const applyPauseEnd = (state: ShootProberState, context: ShootContext): ShootProberState => {
  if (isPaused(context)) return { ...state, wasPaused: true };
  const { wasPaused, ...rest } = state;
  return wasPaused === undefined ? state : leaveToLeader(rest, context.now + leaderTimeMs);
};

export const startFlow = (
  state: ShootProberState,
  desired: DesiredScaling & Pick<FlowPlan, 'withoutLead'>,
  { readFirst, ...context }: ShootContext & { readonly readFirst: boolean },
): ShootProberState => {
  const { pending: _, ...rest } = state;
  const plan: FlowPlan = {
    ...desired,
    id: state.flows + 1,
    resources: context.resources,
    now: context.now,
    verdictMaxAgeMs: state.releasePolicy === undefined ? 2 * context.probeIntervalMs : Number.POSITIVE_INFINITY,
    readFirst,
  };
  // A scale-up that waited too long for a cancelled flow to end is dropped: the next run decides if it is still right.
  if (plan.direction === 'up' && plan.now - plan.judgedAt > plan.verdictMaxAgeMs) return rest;
  if (plan.direction === 'up' && mustAwaitWatches(plan, context)) return rest;
  if (!hasWork(plan, context.snapshotOf)) return rest;
  const { mustReread: __, ...started } = rest;
  return {
    ...started,
    flows: plan.id,
    flow: createFlow({ ...plan, readFirst: readFirst || context.watchesInterruptedMs > 0 }),
  };
};
