/** Gardener's error codes (`docs/usage/shoot/shoot_status.md`). */
export type ErrorCode =
  | 'ERR_INFRA_UNAUTHENTICATED'
  | 'ERR_INFRA_UNAUTHORIZED'
  | 'ERR_INFRA_QUOTA_EXCEEDED'
  | 'ERR_INFRA_RATE_LIMITS_EXCEEDED'
  | 'ERR_INFRA_DEPENDENCIES'
  | 'ERR_RETRYABLE_INFRA_DEPENDENCIES'
  | 'ERR_INFRA_RESOURCES_DEPLETED'
  | 'ERR_CLEANUP_CLUSTER_RESOURCES'
  | 'ERR_CONFIGURATION_PROBLEM'
  | 'ERR_RETRYABLE_CONFIGURATION_PROBLEM'
  | 'ERR_PROBLEMATIC_WEBHOOK';

/** Matchers of error texts by code. The texts differ between infrastructures, so the library has no matchers of its own. */
export type KnownErrorCodes = Readonly<Partial<Record<ErrorCode, (text: string) => boolean>>>;

/** Returns the codes of the error, or of the first of its causes that has a list `codes`. */
const carriedCodes = (error: unknown): readonly string[] => {
  const seen = new Set<unknown>();
  let current = error;
  while (current instanceof Error && !seen.has(current)) {
    seen.add(current);
    if ('codes' in current && Array.isArray(current.codes)) {
      return current.codes.filter((code) => typeof code === 'string');
    }
    current = current.cause;
  }
  return [];
};

/** Returns the codes of an error (its `codes`, or those of a cause) and the codes whose matcher accepts its text: sorted, without duplicates. */
export const determineErrorCodes = (error: string | Error, known: KnownErrorCodes): readonly string[] => {
  const text = typeof error === 'string' ? error : error.message;
  const hit = Object.entries(known).filter(([, matches]) => matches(text));
  return [...new Set([...carriedCodes(error), ...hit.map(([code]) => code)])].sort();
};
