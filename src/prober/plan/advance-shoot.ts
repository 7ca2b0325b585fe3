import { restoresLess } from '../judge/lifecycle.ts';
import { advanceFlow, cancelFlow } from './flow.ts';
import type { Flow, FlowEnd } from './flow-state.ts';
import type { ActionResponse } from './operation.ts';
import type { DesiredScaling, Effect, ShootContext, ShootEvent, ShootProberState, ShootStep } from './shoot-state.ts';
import { isPaused } from './pause.ts';
import {
  cancelPaused,
  desiredScaling,
  reconcile,
  applyPauseEnd,
  noteRestoration,
  startOrQueue,
  startFlow,
  startPending,
  dropPending,
} from './start-scaling.ts';

/** Enters events into the state, advances the flow, and returns the effects to perform and the time of the next call. Pure. */
export const advanceShoot = (
  state: ShootProberState,
  events: readonly ShootEvent[],
  context: ShootContext,
): ShootStep => {
  const effects: Effect[] = [];
  let current = cancelPaused(applyPauseEnd(noteRestoration(state, context), context), context);
  for (const event of events) {
    const taken = takeEvent(current, event, context);
    current = taken.state;
    effects.push(...taken.effects);
  }
  const responses = events.flatMap((event) =>
    event.kind === 'responded' && event.flow === state.flow?.id ? [event.response] : [],
  );
  const flowed = runFlow(startPending(current, context), responses, context);
  effects.push(...flowed.effects);
  current = startRelease(flowed.state, context);
  if (current !== flowed.state && current.flow !== undefined) {
    const restarted = runFlow(current, [], context);
    return finish({ ...restarted, effects: [...effects, ...restarted.effects] }, context);
  }
  return finish({ state: current, effects, wakeAt: flowed.wakeAt }, context);
};

interface Taken {
  readonly state: ShootProberState;
  readonly effects: readonly Effect[];
}

const takeEvent = (state: ShootProberState, event: ShootEvent, context: ShootContext): Taken => {
  switch (event.kind) {
    case 'responded':
      return { state, effects: [] };
    case 'address-unreachable':
      // A back-off that the API server asked for holds.
      if (state.verdict?.kind === 'failed' && state.verdict.failure === 'throttled') return { state, effects: [] };
      return { state: { ...state, nextRunAt: Math.min(state.nextRunAt, context.now) }, effects: [] };
    case 'run-aborted':
      return { state: { ...state, runUnderWay: false, nextRunAt: event.nextRunAt }, effects: [] };
    case 'stop':
      if (
        state.releaseStarted === true &&
        state.releasePolicy !== undefined &&
        !restoresLess(event.releasePolicy, state.releasePolicy)
      ) {
        return { state, effects: [] };
      }
      return {
        state: cancelForRelease({
          ...state,
          releasePolicy: event.releasePolicy,
          releaseStarted: false,
          ...(event.reason === undefined ? {} : { releaseReason: event.reason }),
        }),
        effects: state.runUnderWay ? [{ kind: 'abort-run' }] : [],
      };
    case 'run-ended': {
      const { decision } = event;
      const { memory, verdict, reason } = decision;
      const judged = { ...state, nextRunAt: decision.nextRunAt, runUnderWay: false, probe: memory, verdict };
      if (state.releasePolicy !== undefined) return { state: judged, effects: [] };
      // The outage is over: nothing more is scaled down, and nothing is restored yet.
      if (verdict.kind === 'landing' && judged.flow !== undefined && !isRestoring(judged.flow)) {
        const flow = judged.flow.ending === undefined ? cancelFlow(judged.flow) : judged.flow;
        return { state: { ...dropPending(judged), flow }, effects: [] };
      }
      const given = { reason, judgedAt: context.now, hasObservedRenewals: decision.hasObservedRenewals === true };
      return { state: reconcile(judged, desiredScaling(verdict, given), context), effects: [] };
    }
  }
};

const runFlow = (state: ShootProberState, responses: readonly ActionResponse[], context: ShootContext): ShootStep => {
  if (state.flow === undefined) return { state, effects: [], wakeAt: Number.POSITIVE_INFINITY };
  const isNew = state.flow.startedLevels === 0;
  const { flow, actions, wakeAt, end } = advanceFlow(state.flow, { ...context, responses });
  const effects: Effect[] = isNew ? [{ kind: 'flow-started', flow }] : [];
  effects.push(...actions.map((action): Effect => ({ kind: 'send', flow, action })));
  if (end === undefined) return { state: { ...state, flow }, effects, wakeAt };
  effects.push({ kind: 'flow-ended', flow, end });
  const afterFlow = endFlow(state, flow, end);
  if (afterFlow.pending === undefined || afterFlow.releasePolicy !== undefined) {
    return { state: afterFlow, effects, wakeAt: Number.POSITIVE_INFINITY };
  }
  const next = runFlow(startOrQueue(afterFlow, afterFlow.pending, { ...context, readFirst: true }), [], context);
  return { ...next, effects: [...effects, ...next.effects] };
};

/** Returns the state without the ended flow. It records a scale-down without the lead, a response that may be lost, and the result of a release. */
const endFlow = (state: ShootProberState, flow: Flow, end: FlowEnd): ShootProberState => {
  const { flow: _, ...rest } = state;
  return {
    ...rest,
    ...(flow.withoutLead !== undefined && hasWritten(flow) ? { scaledWithoutLead: true } : {}),
    ...(mayHaveLostResponse(flow, end) ? { mustReread: flow.direction } : {}),
    ...(state.releaseStarted === true ? { ended: end === 'completed' ? 'done' : 'failed' } : {}),
  };
};

const hasWritten = ({ operations }: Flow): boolean => operations.some(({ mayHaveWritten }) => mayHaveWritten);

const isRestoring = (flow: Flow): boolean => flow.direction === 'up' && hasWritten(flow);

/** True if a response may have been lost, so that a write may have taken effect that the watch does not show yet. */
const mayHaveLostResponse = ({ operations }: Flow, end: FlowEnd): boolean =>
  end === 'cancelled' || operations.some(({ mayHaveWritten, phase }) => mayHaveWritten && phase.kind === 'failed');

const cancelForRelease = (state: ShootProberState): ShootProberState => {
  const { pending: _, ...rest } = state;
  return rest.flow === undefined ? rest : { ...rest, flow: cancelFlow(rest.flow) };
};

/** Starts the release of held resources, once, after probing and its flow have ended. */
const startRelease = (state: ShootProberState, context: ShootContext): ShootProberState => {
  const { releasePolicy, releaseReason } = state;
  if (releasePolicy === undefined || state.flow !== undefined || state.ended !== undefined) return state;
  if (releasePolicy === 'nothing' || !context.role.leads) return { ...state, ended: 'done' };
  const given = { scope: 'held', judgedAt: context.now } as const;
  const desired: DesiredScaling =
    releasePolicy === 'restore'
      ? { ...given, direction: 'up', reason: releaseReason ?? 'the shoot has no workers that could be harmed' }
      : { ...given, direction: 'release', reason: releaseReason ?? 'the shoot is no longer protected' };
  const started = startFlow(state, desired, { ...context, readFirst: state.flows > 0 });
  return started.flow === undefined ? { ...started, ended: 'done' } : { ...started, releaseStarted: true };
};

/**
 * Interval, in milliseconds, at which a standby checks the leader while a scale-down is due or resources are held. Each step extends the standby's right to
 * write.
 */
const standbyPaceMs = 500;

const mustWatchLeader = ({ flow, pending, heldCount }: ShootProberState, context: ShootContext): boolean =>
  context.role.isHotStandby &&
  !context.role.leads &&
  !isPaused(context) &&
  (flow?.withoutLead !== undefined || pending?.direction === 'down' || heldCount !== undefined);

const finish = (given: ShootStep, context: ShootContext): ShootStep => {
  const { now } = context;
  const { state, effects } = given;
  const wakeAt = Math.min(given.wakeAt, isPaused(context) ? context.pausedUntil : Number.POSITIVE_INFINITY);
  const step = { ...given, wakeAt: mustWatchLeader(state, context) ? Math.min(wakeAt, now + standbyPaceMs) : wakeAt };
  if (state.releasePolicy !== undefined || state.runUnderWay) return step;
  if (now < state.nextRunAt) return { ...step, wakeAt: Math.min(step.wakeAt, state.nextRunAt) };
  return { ...step, state: { ...state, runUnderWay: true }, effects: [...effects, { kind: 'start-run' }] };
};
