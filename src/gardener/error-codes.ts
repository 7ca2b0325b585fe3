/**
 * Gardener's error codes. `isUserError`: the user has to mend it (`docs/usage/shoot/shoot_status.md` of gardener). `mayRetry`: a retry may help
 * (`HasNonRetryableErrorCode` in `pkg/apis/core/v1beta1/helper`).
 */
export const errorCodes = {
  ERR_INFRA_UNAUTHENTICATED: { isUserError: true, mayRetry: false },
  ERR_INFRA_UNAUTHORIZED: { isUserError: true, mayRetry: false },
  ERR_INFRA_QUOTA_EXCEEDED: { isUserError: true, mayRetry: false },
  ERR_INFRA_RATE_LIMITS_EXCEEDED: { isUserError: false, mayRetry: false },
  ERR_INFRA_DEPENDENCIES: { isUserError: true, mayRetry: false },
  ERR_RETRYABLE_INFRA_DEPENDENCIES: { isUserError: false, mayRetry: true },
  ERR_INFRA_RESOURCES_DEPLETED: { isUserError: true, mayRetry: true },
  ERR_CLEANUP_CLUSTER_RESOURCES: { isUserError: true, mayRetry: true },
  ERR_CONFIGURATION_PROBLEM: { isUserError: true, mayRetry: false },
  ERR_RETRYABLE_CONFIGURATION_PROBLEM: { isUserError: true, mayRetry: true },
  ERR_PROBLEMATIC_WEBHOOK: { isUserError: true, mayRetry: false },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** Matchers of error texts by code. The texts differ between infrastructures, so the library has no matchers of its own. */
export type KnownErrorCodes = Readonly<Partial<Record<ErrorCode, (text: string) => boolean>>>;

/** Returns the codes of the error, or of the first of its causes that has a list `codes`. */
const carriedCodes = (error: unknown): readonly string[] => {
  if (!(error instanceof Error)) return [];
  return 'codes' in error && Array.isArray(error.codes)
    ? error.codes.filter((code) => typeof code === 'string')
    : carriedCodes(error.cause);
};

/** Returns the codes of an error (its `codes`, or those of a cause) and the codes whose matcher accepts its text: sorted, without duplicates. */
export const determineErrorCodes = (error: string | Error, known: KnownErrorCodes): readonly string[] => {
  const text = typeof error === 'string' ? error : error.message;
  const hit = Object.entries(known).filter(([, matches]) => matches(text));
  return [...new Set([...carriedCodes(error), ...hit.map(([code]) => code)])].sort();
};
