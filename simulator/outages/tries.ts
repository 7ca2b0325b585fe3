/** What the tries of a shoot's outside path have shown to one process. Monotonic times of the run, in milliseconds. */
export interface Tries {
  /** In a row. */
  readonly failures: number;
  /** When the first of them was sent. */
  readonly failingSince: number;
  /** When there were enough of them. */
  readonly brokenAt: number;
  /** One of them was sent after an answer on the inside path that was asked for after the first had failed. */
  readonly isProven: boolean;
  /** When the latest that was answered was sent. */
  readonly answeredAt: number;
  /** When the latest ended. */
  readonly endedAt: number;
  /** When a fault of ours made a path unknown that had been answered until then. */
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

/** Of the configuration that all plans have. */
export const failureThreshold = 3;

/** What only an API server says is an answer. */
const answers: readonly number[] = [401, 403, 429];

export const takeAnswer = (tried: EndedTry, status: number): Tries =>
  status < 400 || answers.includes(status)
    ? { ...noTries, answeredAt: tried.sentAt, endedAt: tried.at }
    : takeFailure(tried, true);

/** `isDark`: it says something of the path. */
export const takeFailure = ({ tries, sentAt, at, insideAnsweredAt }: EndedTry, isDark: boolean): Tries => {
  // A fault of ours makes the path unknown at once.
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

/** Whether the path counts as whole: its last try was answered, and not long ago. Within a moment of the limits it does not. */
export const isWhole = ({ failures, answeredAt, endedAt }: Tries, at: number, limitMs: number): boolean =>
  failures === 0 && endedAt < at && at - answeredAt < limitMs / 2 - 100;
