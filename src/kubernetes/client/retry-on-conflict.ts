import { isApiError } from '../api/errors.ts';

export interface ConflictRetry<T, R> {
  /** Writes the difference to the stored object. Rejects with an ApiError `Conflict` if the object has changed since it was read. */
  readonly attempt: (stored: T) => Promise<R>;
  /** Reads the object again. Undefined if there is no longer an object to write. */
  readonly reread: (stored: T) => Promise<T | undefined>;
  /** Returns false if the conflict is final. Absent: only a conflict of the last attempt is. */
  readonly mayRetry?: () => boolean;
}

/** Same as client-go's `retry.DefaultRetry`. Another client that writes all the time would make every attempt a conflict. */
const maxAttempts = 5;

/** Attempts a write, and after a conflict again from the reread object. Undefined if `reread` returns undefined; rejects as `attempt` and `reread` do. */
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
