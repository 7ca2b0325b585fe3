import { type ReleasePolicy, releasesLess } from '../judge/lifecycle.ts';
import { type NextRun, nextRunDue, runSooner, scheduleAfter } from '../judge/next-run.ts';
import type { Decision, ProbeMemory, Verdict } from '../judge/verdict.ts';
import type { DependentResource } from '../settings.ts';
import { type FlowPlan, createFlow, hasWork } from './create-flow.ts';
import {
  type Flow,
  type FlowEnd,
  type SnapshotOf,
  advanceFlow,
  cancelFlow,
  confirmFlow,
  mustAwaitWatches,
} from './flow.ts';
import type { Direction, Scope } from './patch-plan.ts';
import type { Action, Outcome } from './operation.ts';

/** What a shoot's prober wants done, whether or not a flow does it already. */
interface DesiredScaling {
  readonly direction: Direction;
  readonly scope: Scope;
  readonly reason: string;
  /** When the verdict was given. */
  readonly judgedAt: number;
}

/** Everything a shoot's prober remembers. Times are monotonic milliseconds. */
export interface ShootState extends NextRun {
  readonly probe: ProbeMemory;
  readonly runUnderWay: boolean;
  readonly verdict?: Verdict;
  readonly flow?: Flow;
  /** Flows so far; the number of the latest. */
  readonly flows: number;
  /** Direction of a flow that ended without knowing what became of its writes: the opposite one reads first. */
  readonly mustReread?: Direction;
  /** What is to start when the cancelled flow has ended. */
  readonly next?: DesiredScaling;
  /** Set when probing has ended: what is still to be done, and then how it went. */
  readonly releasePolicy?: ReleasePolicy;
  /** Why it is said, where not because of the shoot itself. */
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
  | { readonly kind: 'answered'; readonly flow: number; readonly outcome: Outcome }
  | { readonly kind: 'stop'; readonly releasePolicy: ReleasePolicy; readonly reason?: string };

export interface ShootContext {
  readonly now: number;
  readonly snapshotOf: SnapshotOf;
  readonly resources: readonly DependentResource[];
  readonly probeIntervalMs: number;
  /** Milliseconds for which a watch of Clusters or dependents has been away; 0 while all are open. */
  readonly seedAwayMs: number;
}

export type Effect =
  | { readonly kind: 'start-run' }
  | { readonly kind: 'abort-run' }
  | { readonly kind: 'send'; readonly flow: Flow; readonly action: Action }
  /** Answers to reads of the flow are no longer wanted. */
  | { readonly kind: 'flow-started'; readonly flow: Flow }
  | { readonly kind: 'flow-ended'; readonly flow: Flow; readonly end: FlowEnd };

export interface ShootStep {
  readonly state: ShootState;
  readonly effects: readonly Effect[];
  /** Monotonic instant of the next step without an event; Infinity when only an event can bring one. */
  readonly wakeAt: number;
}

/** Enters events into the state, advances the flow, and returns what to do now and when to call again. Pure. */
export const advanceShoot = (state: ShootState, events: readonly ShootEvent[], context: ShootContext): ShootStep => {
  const effects: Effect[] = [];
  let current = state;
  for (const event of events) {
    const taken = takeEvent(current, event, context);
    current = taken.state;
    effects.push(...taken.effects);
  }
  const outcomes = events.flatMap((event) =>
    event.kind === 'answered' && event.flow === state.flow?.id ? [event.outcome] : [],
  );
  const flowed = runFlow(current, outcomes, context);
  effects.push(...flowed.effects);
  current = startRelease(flowed.state, context);
  if (current !== flowed.state && current.flow !== undefined) {
    const restarted = runFlow(current, [], context);
    return finish({ ...restarted, effects: [...effects, ...restarted.effects] }, context);
  }
  return finish({ state: current, effects, wakeAt: flowed.wakeAt }, context);
};

interface Taken {
  readonly state: ShootState;
  readonly effects: readonly Effect[];
}

const takeEvent = (state: ShootState, event: ShootEvent, context: ShootContext): Taken => {
  switch (event.kind) {
    case 'answered':
      return { state, effects: [] };
    case 'external-probe-turned':
      return { state: runSooner(state, { ...event, now: context.now }), effects: [] };
    case 'run-broke':
      return { state: { ...state, runUnderWay: false, nextRunAt: event.nextRunAt }, effects: [] };
    case 'stop':
      if (
        state.releaseStarted === true &&
        state.releasePolicy !== undefined &&
        !releasesLess(event.releasePolicy, state.releasePolicy)
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
      const { runBy: _, verdictMayTurnAt: __, ...before } = state;
      const judged = { ...before, ...scheduleAfter(state, decision), runUnderWay: false, probe: memory, verdict };
      if (state.releasePolicy !== undefined) return { state: judged, effects: [] };
      return {
        state: reconcile(judged, desiredScaling(verdict, { reason, judgedAt: context.now }), context),
        effects: [],
      };
    }
  }
};

const desiredScaling = (
  verdict: Verdict,
  given: Pick<DesiredScaling, 'reason' | 'judgedAt'>,
): DesiredScaling | undefined => {
  switch (verdict.kind) {
    case 'unhealthy':
      return { direction: 'down', scope: 'all', ...given };
    case 'healthy':
      return { direction: 'up', scope: verdict.scope, ...given };
    case 'skipped':
    case 'confirming':
    case 'failed':
      return undefined;
  }
};

/** The same verdict keeps its flow going, the opposite one cancels it; without a verdict a flow stays as it is. */
const reconcile = (state: ShootState, desired: DesiredScaling | undefined, context: ShootContext): ShootState => {
  const { flow } = state;
  if (desired === undefined) return state;
  const readFirst = state.mustReread !== undefined && state.mustReread !== desired.direction;
  if (flow === undefined) return startFlow(state, desired, { ...context, readFirst });
  if (flow.ending === 'cancelled') return { ...state, next: desired };
  if (flow.direction === desired.direction) return { ...state, flow: confirmFlow(flow, desired) };
  return { ...state, flow: cancelFlow(flow), next: desired };
};

const startFlow = (
  state: ShootState,
  desired: DesiredScaling,
  { readFirst, ...context }: ShootContext & { readonly readFirst: boolean },
): ShootState => {
  const { next: _, ...rest } = state;
  const plan: FlowPlan = {
    ...desired,
    id: state.flows + 1,
    resources: context.resources,
    now: context.now,
    verdictMaxAgeMs: state.releasePolicy === undefined ? 2 * context.probeIntervalMs : Number.POSITIVE_INFINITY,
    readFirst,
  };
  // A scale-up that had to wait for the end of a cancelled flow: the next run says whether it is still right.
  if (plan.direction === 'up' && plan.now - plan.judgedAt > plan.verdictMaxAgeMs) return rest;
  if (plan.direction === 'up' && mustAwaitWatches(plan, context)) return rest;
  if (!hasWork(plan, context.snapshotOf)) return rest;
  const { mustReread: __, ...started } = rest;
  return { ...started, flows: plan.id, flow: createFlow({ ...plan, readFirst: readFirst || context.seedAwayMs > 0 }) };
};

const runFlow = (state: ShootState, outcomes: readonly Outcome[], context: ShootContext): ShootStep => {
  if (state.flow === undefined) return { state, effects: [], wakeAt: Number.POSITIVE_INFINITY };
  const isNew = state.flow.startedLevels === 0;
  const { flow, actions, wakeAt, end } = advanceFlow(state.flow, { ...context, outcomes });
  const effects: Effect[] = isNew ? [{ kind: 'flow-started', flow }] : [];
  effects.push(...actions.map((action): Effect => ({ kind: 'send', flow, action })));
  if (end === undefined) return { state: { ...state, flow }, effects, wakeAt };
  effects.push({ kind: 'flow-ended', flow, end });
  const { flow: _, ...before } = state;
  const rest = mayHaveLostAnswer(flow, end) ? { ...before, mustReread: flow.direction } : before;
  const ended =
    rest.releaseStarted === true ? ({ ...rest, ended: end === 'completed' ? 'done' : 'failed' } as const) : rest;
  if (rest.next === undefined || rest.releasePolicy !== undefined) {
    return { state: ended, effects, wakeAt: Number.POSITIVE_INFINITY };
  }
  const following = runFlow(startFlow(rest, rest.next, { ...context, readFirst: true }), [], context);
  return { ...following, effects: [...effects, ...following.effects] };
};

/** An answer may have been lost for good, and the watch may not show it yet. */
const mayHaveLostAnswer = ({ operations }: Flow, end: FlowEnd): boolean =>
  end === 'cancelled' || operations.some(({ mayHaveWritten, phase }) => mayHaveWritten && phase.kind === 'failed');

const cancelForRelease = (state: ShootState): ShootState => {
  const { next: _, ...rest } = state;
  return rest.flow === undefined ? rest : { ...rest, flow: cancelFlow(rest.flow) };
};

/** Once probing and its flow have ended: gives back what is held, once. */
const startRelease = (state: ShootState, context: ShootContext): ShootState => {
  const { releasePolicy, releaseReason } = state;
  if (releasePolicy === undefined || state.flow !== undefined || state.ended !== undefined) return state;
  if (releasePolicy === 'nothing') return { ...state, ended: 'done' };
  const given = { scope: 'held', judgedAt: context.now } as const;
  const desired: DesiredScaling =
    releasePolicy === 'restore'
      ? { ...given, direction: 'up', reason: releaseReason ?? 'the shoot has no workers that could be harmed' }
      : { ...given, direction: 'release', reason: releaseReason ?? 'the shoot is no longer protected' };
  const started = startFlow(state, desired, { ...context, readFirst: state.flows > 0 });
  return started.flow === undefined ? { ...started, ended: 'done' } : { ...started, releaseStarted: true };
};

const finish = (step: ShootStep, { now }: ShootContext): ShootStep => {
  const { state, effects } = step;
  if (state.releasePolicy !== undefined || state.runUnderWay) return step;
  const runAt = nextRunDue(state);
  if (now < runAt) return { ...step, wakeAt: Math.min(step.wakeAt, runAt) };
  const { runBy: _, ...rest } = state;
  return { ...step, state: { ...rest, runUnderWay: true }, effects: [...effects, { kind: 'start-run' }] };
};
