import { renewalsOf } from './lease-history.ts';
import type { Decision } from './decision.ts';
import type { ProbeMemory } from './probe-memory.ts';
import type { Verdict } from './verdict.ts';

/** When a shoot's leases are listed next. Times are monotonic milliseconds. */
export interface NextRun {
  readonly nextRunAt: number;
  /** An earlier run, for the sake of the external probe. */
  readonly runBy?: number;
  /** As the latest verdict says. */
  readonly verdictMayTurnAt?: number;
}

/** After a run; what the external probe asked for meanwhile goes where the run failed, so that a back-off holds. */
export const scheduleAfter = ({ runBy }: NextRun, { nextRunAt, verdictMayTurnAt }: Decision): NextRun => {
  if (verdictMayTurnAt === undefined) return { nextRunAt };
  return { nextRunAt, verdictMayTurnAt, ...(runBy === undefined ? {} : { runBy }) };
};

/** The external probe has turned: no longer reachable, on which a verdict `skipped` may rest, or with `isUnreachable` unreachable for certain. */
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
  /** The scaling that is under way. */
  readonly flow?: unknown;
}

/**
 * When a run that is due now must have ended, a monotonic instant: when KCM may give up the next node if no lease is renewed. Now, where nothing is known of
 * the shoot yet or its resources are being scaled; late, where they are held already.
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
