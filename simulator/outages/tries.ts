/** Results of one process's external probe of a shoot. Monotonic times of the run, in milliseconds. */
export interface Tries {
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

export const noTries: Tries = {
  failures: 0,
  failingSince: Number.POSITIVE_INFINITY,
  brokenAt: Number.POSITIVE_INFINITY,
  isProven: false,
  answeredAt: Number.NEGATIVE_INFINITY,
  endedAt: Number.NEGATIVE_INFINITY,
  unknownSince: Number.NEGATIVE_INFINITY,
};

export interface EndedTry {
  readonly tries: Tries;
  readonly sentAt: number;
  readonly at: number;
  readonly insideAnsweredAt: number;
}

/** The external probe's `failureThreshold` in all plans. */
export const failureThreshold = 3;

/** Error statuses that only an API server returns: its address is reachable. */
const answers: readonly number[] = [401, 403, 429];

export const takeAnswer = (tried: EndedTry, status: number): Tries =>
  status < 400 || answers.includes(status)
    ? { ...noTries, answeredAt: tried.sentAt, endedAt: tried.at }
    : takeFailure(tried, true);

/** Adds a failed attempt. `isDark`: true if the failure is evidence about the network path, and not a fault on our side. */
export const takeFailure = ({ tries, sentAt, at, insideAnsweredAt }: EndedTry, isDark: boolean): Tries => {
  // A fault on our side makes the address unknown at once.
  if (!isDark) {
    const wasAnswered = tries.answeredAt > Number.NEGATIVE_INFINITY;
    return { ...noTries, endedAt: at, unknownSince: wasAnswered ? at : tries.unknownSince };
  }
  const failures = tries.failures + 1;
  const failingSince = Math.min(tries.failingSince, sentAt);
  return {
    ...tries,
    failures,
    failingSince,
    brokenAt: failures >= failureThreshold ? Math.min(tries.brokenAt, at) : tries.brokenAt,
    isProven: tries.isProven || insideAnsweredAt >= failingSince,
    endedAt: at,
  };
};

/** True if the address counts as reachable: the last attempt succeeded, and not long ago. False close to the limits, where either is right. */
export const isWhole = ({ failures, answeredAt, endedAt }: Tries, at: number, limitMs: number): boolean =>
  failures === 0 && endedAt < at && at - answeredAt < limitMs / 2 - 100;
