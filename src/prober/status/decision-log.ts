import type { LeaseCounts, VerdictName } from '../judge/verdict.ts';

/** Maximum number of entries per shoot. */
const mostKept = 50;
/** Maximum length of a reason, in UTF-16 code units. */
const longestReason = 200;

/** Actions on a shoot, by its prober or by others. */
export type ActWord = 'scaled down' | 'scaled up' | 'given back' | 'paused' | 'resumed' | 'released';

/** Consecutive runs with the same result, or an action between runs. */
export interface LoggedDecision {
  /** `at` and `lastAt`: when the first and the latest of the runs ended, or when the action happened, in milliseconds since the epoch. */
  readonly at: number;
  readonly lastAt: number;
  readonly runs: number;
  readonly verdict: VerdictName | ActWord;
  readonly reason: string;
  readonly counts?: LeaseCounts | undefined;
  /** Share of expired candidates at which the shoot is protected. */
  readonly threshold: number;
}

export type NewDecision = Omit<LoggedDecision, 'lastAt' | 'runs'>;

const isSame = (a: LoggedDecision, b: NewDecision): boolean =>
  a.verdict === b.verdict &&
  a.reason === b.reason &&
  a.counts?.candidates === b.counts?.candidates &&
  a.counts?.expired === b.counts?.expired &&
  a.threshold === b.threshold;

/** Returns a truncated copy. In V8 a concatenated string, or a slice of a longer one, keeps all of its parts in memory. */
const ownText = (text: string): string => Buffer.from(text.slice(0, longestReason)).toString();

/** The latest 50 decisions on a shoot and actions between them, bounded in bytes. Consecutive equal entries are merged. */
export class DecisionLog {
  readonly #kept: LoggedDecision[] = [];

  /** Adds a decision or an action, and returns the entry, with its truncated reason. */
  add(decision: NewDecision): LoggedDecision {
    const reason = decision.reason.slice(0, longestReason);
    const last = this.#kept.at(-1);
    if (last !== undefined && isSame(last, { ...decision, reason })) {
      const again = { ...last, lastAt: decision.at, runs: last.runs + 1 };
      this.#kept[this.#kept.length - 1] = again;
      return again;
    }
    const added = { ...decision, reason: ownText(reason), lastAt: decision.at, runs: 1 };
    this.#kept.push(added);
    if (this.#kept.length > mostKept) this.#kept.shift();
    return added;
  }

  /** Returns the entries, the oldest first. */
  all(): readonly LoggedDecision[] {
    return this.#kept;
  }
}
