import { renewalsOf } from './lease-history.ts';
import type { Decision } from './decision.ts';
import type { ProbeMemory } from './probe-memory.ts';
import type { Verdict } from './verdict.ts';

/** Schedule of a shoot's next run. Times are monotonic milliseconds. */
export interface NextRun {
  readonly nextRunAt: number;
  /** Instant of an earlier run, which a change of the external probe needs. */
  readonly runBy?: number;
  /** Instant from which another state of the external probe would change the verdict, by the latest decision. */
  readonly verdictMayTurnAt?: number;
}

/** Schedules the run after a decision. Drops `runBy` if the external probe cannot change the verdict, as after a failed run, whose back-off then holds. */
export const scheduleAfter = ({ runBy }: NextRun, { nextRunAt, verdictMayTurnAt }: Decision): NextRun => {
  if (verdictMayTurnAt === undefined) return { nextRunAt };
  return { nextRunAt, verdictMayTurnAt, ...(runBy === undefined ? {} : { runBy }) };
};

/** Schedules an earlier run after the external probe changed: to unreachable (`isUnreachable`), or to not reachable, which matters to a verdict `skipped`. */
export const runSooner = <S extends NextRun & { readonly verdict?: Verdict }>(
  state: S,
  { isUnreachable, now }: { readonly isUnreachable: boolean; readonly now: number },
): S => {
  const { verdict, verdictMayTurnAt, runBy = Number.POSITIVE_INFINITY } = state;
  const mayTurn = verdictMayTurnAt !== undefined && (isUnreachable || verdict?.kind === 'skipped');
  return mayTurn ? { ...state, runBy: Math.min(runBy, Math.max(now, verdictMayTurnAt)) } : state;
};

export const nextRunDue = ({ nextRunAt, runBy = Number.POSITIVE_INFINITY }: NextRun): number =>
  Math.min(nextRunAt, runBy);

interface RunDue {
  readonly probe: ProbeMemory;
  /** The flow that is in progress. */
  readonly flow?: unknown;
}

/**
 * Returns the monotonic instant by which a run that is due now must end: when KCM may mark the next node as unhealthy if no lease is renewed. It is `now` if
 * no leases are known yet or a flow is in progress, and a whole grace period later if the resources are held already.
 */
export const runNeededBy = (
  { probe, flow }: RunDue,
  { now, graceMs, isHeld }: { readonly now: number; readonly graceMs: number; readonly isHeld: boolean },
): number => {
  const renewals = renewalsOf(probe.history);
  if (flow !== undefined || renewals.length === 0) return now;
  if (isHeld) return now + graceMs;
  return renewals.reduce((first, at) => (at + graceMs > now ? Math.min(first, at + graceMs) : first), now + graceMs);
};
