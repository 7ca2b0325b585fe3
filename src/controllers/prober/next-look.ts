import type { Decision, Verdict } from './verdict.ts';

/** When a shoot's leases are looked at next. Times are monotonic milliseconds. */
export interface NextLook {
  readonly nextRunAt: number;
  /** An earlier look, for the sake of the outside path. */
  readonly lookBy?: number;
  /** As the latest verdict says. */
  readonly pathTurnsAt?: number;
}

/** After a run; what the outside path asked for meanwhile goes where the run failed, so that a back-off holds. */
export const lookAfter = ({ lookBy }: NextLook, { nextRunAt, pathTurnsAt }: Decision): NextLook => {
  if (pathTurnsAt === undefined) return { nextRunAt };
  return { nextRunAt, pathTurnsAt, ...(lookBy === undefined ? {} : { lookBy }) };
};

/** The outside path has turned: it is no longer whole, which a verdict to skip may rest on, or `broken` for certain. */
export const lookSooner = <S extends NextLook & { readonly verdict?: Verdict }>(
  state: S,
  { broken, now }: { readonly broken: boolean; readonly now: number },
): S => {
  const { verdict, pathTurnsAt, lookBy = Number.POSITIVE_INFINITY } = state;
  const mayTurn = pathTurnsAt !== undefined && (broken || verdict?.kind === 'skip');
  return mayTurn ? { ...state, lookBy: Math.min(lookBy, Math.max(now, pathTurnsAt)) } : state;
};

export const nextLookAt = ({ nextRunAt, lookBy = Number.POSITIVE_INFINITY }: NextLook): number =>
  Math.min(nextRunAt, lookBy);
