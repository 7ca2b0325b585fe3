/** Results of one process's external probe of a shoot. Monotonic times of the run, in milliseconds. */
export interface ExternalProbeResponses {
  /** Number of failed attempts in a row. */
  readonly failures: number;
  /** Time at which the first of them was sent. */
  readonly failingSince: number;
  /** Time at which there were enough of them. */
  readonly brokenAt: number;
  /** True if a request to the internal address was sent after the first of them, and succeeded before the end of one of them. */
  readonly isProven: boolean;
  /** Time at which the latest successful attempt was sent. */
  readonly answeredAt: number;
  /** Time at which the latest attempt ended. */
  readonly endedAt: number;
  /** Time at which a fault on our side made an address unknown that had responded before. */
  readonly unknownSince: number;
}

export const noExternalProbeResponses: ExternalProbeResponses = {
  failures: 0,
  failingSince: Number.POSITIVE_INFINITY,
  brokenAt: Number.POSITIVE_INFINITY,
  isProven: false,
  answeredAt: Number.NEGATIVE_INFINITY,
  endedAt: Number.NEGATIVE_INFINITY,
  unknownSince: Number.NEGATIVE_INFINITY,
};

export interface EndedExternalProbe {
  /** Results before this attempt. */
  readonly before: ExternalProbeResponses;
  readonly sentAt: number;
  readonly at: number;
  readonly insideAnsweredAt: number;
}

/** The external probe's `failureThreshold` in all plans. */
export const failureThreshold = 3;

/** Error statuses that only an API server returns: its address is reachable. */
const answers: readonly number[] = [401, 403, 429];

export const addResponse = (attempt: EndedExternalProbe, status: number): ExternalProbeResponses =>
  status < 400 || answers.includes(status)
    ? { ...noExternalProbeResponses, answeredAt: attempt.sentAt, endedAt: attempt.at }
    : addFailure(attempt, true);

/** Adds a failed attempt. `isServerDown`: true if the failure is evidence about the network path, and not a fault on our side. */
export const addFailure = (
  { before, sentAt, at, insideAnsweredAt }: EndedExternalProbe,
  isServerDown: boolean,
): ExternalProbeResponses => {
  // A fault on our side makes the address unknown at once.
  if (!isServerDown) {
    const wasAnswered = before.answeredAt > Number.NEGATIVE_INFINITY;
    return { ...noExternalProbeResponses, endedAt: at, unknownSince: wasAnswered ? at : before.unknownSince };
  }
  const failures = before.failures + 1;
  const failingSince = Math.min(before.failingSince, sentAt);
  return {
    ...before,
    failures,
    failingSince,
    brokenAt: failures >= failureThreshold ? Math.min(before.brokenAt, at) : before.brokenAt,
    isProven: before.isProven || insideAnsweredAt >= failingSince,
    endedAt: at,
  };
};

/** True if the address counts as reachable: the last attempt succeeded, and not long ago. False close to the limits, where either is right. */
export const isReachable = (
  { failures, answeredAt, endedAt }: ExternalProbeResponses,
  at: number,
  limitMs: number,
): boolean => failures === 0 && endedAt < at && at - answeredAt < limitMs / 2 - 100;
