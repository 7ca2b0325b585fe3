export interface ErrorCodeTraits {
  /** True if the user must fix the error, not the operator. */
  readonly userError: boolean;
  /** True if a retry may succeed without any change. */
  readonly retryHelps: boolean;
}

/**
 * Gardener's error codes, as its documentation describes them (`docs/usage/shoot/shoot_status.md`) and its code treats them
 * (`pkg/api/core/v1beta1/helper/errors.go`, HasNonRetryableErrorCode).
 */
export const errorCodes = {
  ERR_INFRA_UNAUTHENTICATED: { userError: true, retryHelps: false },
  ERR_INFRA_UNAUTHORIZED: { userError: true, retryHelps: false },
  ERR_INFRA_QUOTA_EXCEEDED: { userError: true, retryHelps: false },
  ERR_INFRA_RATE_LIMITS_EXCEEDED: { userError: false, retryHelps: false },
  ERR_INFRA_DEPENDENCIES: { userError: true, retryHelps: false },
  ERR_RETRYABLE_INFRA_DEPENDENCIES: { userError: false, retryHelps: true },
  ERR_INFRA_RESOURCES_DEPLETED: { userError: true, retryHelps: true },
  ERR_CLEANUP_CLUSTER_RESOURCES: { userError: true, retryHelps: true },
  ERR_CONFIGURATION_PROBLEM: { userError: true, retryHelps: false },
  ERR_RETRYABLE_CONFIGURATION_PROBLEM: { userError: true, retryHelps: true },
  ERR_PROBLEMATIC_WEBHOOK: { userError: true, retryHelps: false },
} as const satisfies Readonly<Record<string, ErrorCodeTraits>>;

export type ErrorCode = keyof typeof errorCodes;

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
