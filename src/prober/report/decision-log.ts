import { withoutNumbers } from '../../status/state/words.ts';
import type { VerdictName } from '../judge/judgement.ts';

/** Maximum number of entries per shoot. */
const mostKept = 50;
/** Maximum length of a reason, in UTF-16 code units. */
const longestReason = 200;

/** Actions on a shoot, by its prober or by others. */
export type ActWord = 'scaled down' | 'scaled up' | 'given back' | 'undone' | 'paused' | 'resumed' | 'released';

/** Consecutive runs with the same result but for its numbers, or an action between runs. The reason is that of the latest. */
export interface LoggedDecision {
  /** `at` and `lastAt`: when the first and the latest of the runs ended, or when the action happened, in milliseconds since the epoch. */
  readonly at: number;
  readonly lastAt: number;
  readonly runs: number;
  readonly verdict: VerdictName | ActWord;
  readonly reason: string;
}

/** One run or action. */
export type NewDecision = Omit<LoggedDecision, 'lastAt' | 'runs'>;

/** True if two runs decided the same, whatever the numbers: a countdown is no decision. Actions differ by their resource. */
const isSame = (a: LoggedDecision, b: NewDecision): boolean =>
  a.verdict === b.verdict && withoutNumbers(a.reason) === withoutNumbers(b.reason);

/** Returns a truncated copy. In V8 a concatenated string, or a slice of a longer one, keeps all of its parts in memory. */
const ownText = (text: string): string => Buffer.from(text.slice(0, longestReason)).toString();

/** The latest 50 decisions on a shoot and actions between them, bounded in bytes. Consecutive equal entries are merged. */
export class DecisionLog {
  readonly #kept: LoggedDecision[] = [];

  add(decision: NewDecision): void {
    const reason = decision.reason.slice(0, longestReason);
    const last = this.#kept.at(-1);
    if (last !== undefined && isSame(last, { ...decision, reason })) {
      this.#kept[this.#kept.length - 1] = {
        ...last,
        ...{ reason: ownText(reason), lastAt: decision.at, runs: last.runs + 1 },
      };
      return;
    }
    this.#kept.push({ ...decision, reason: ownText(reason), lastAt: decision.at, runs: 1 });
    if (this.#kept.length > mostKept) this.#kept.shift();
  }

  /** Returns the entries, the oldest first. */
  all(): readonly LoggedDecision[] {
    return this.#kept;
  }
}
