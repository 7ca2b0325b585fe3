import { isApiError } from '../api/errors.ts';

export interface ConflictRetry<T, R> {
  /** Writes what differs from the stored object. Rejects with an ApiError `Conflict` if the object has changed since it was read. */
  readonly attempt: (stored: T) => Promise<R>;
  /** Reads the object again. Undefined if there is nothing to write to any more. */
  readonly reread: (stored: T) => Promise<T | undefined>;
  /** False: a conflict is final. Absent: it never is before the last attempt. */
  readonly mayRetry?: () => boolean;
}

/** As client-go's `retry.DefaultRetry`. Another client that writes all the time would make every attempt a conflict. */
const maxAttempts = 5;

/** Attempts a write, and after a conflict once more from the object as it is then. Undefined if `reread` is; else rejects as `attempt` and `reread` do. */
export const retryOnConflict = async <T, R>(
  read: T,
  { attempt, reread, mayRetry = () => true }: ConflictRetry<T, R>,
): Promise<R | undefined> => {
  let stored = read;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(stored);
    } catch (error) {
      const isLast = attempts === maxAttempts || !mayRetry();
      if (!isApiError(error, 'Conflict') || isLast) throw error;
    }
    const latest = await reread(stored);
    if (latest === undefined) return undefined;
    stored = latest;
  }
};
