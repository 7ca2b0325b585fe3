import type { LeaseCounts, VerdictWord } from '../judge/verdict.ts';

/** Decisions of a shoot that are kept. */
const mostKept = 50;
/** Of a reason, in UTF-16 code units. */
const longestReason = 200;

/** What was done to a shoot, by its prober or by others. */
export type ActWord =
  | 'scaled down'
  | 'scaled up'
  | 'annotated'
  | 'restored'
  | 'given back'
  | 'paused'
  | 'resumed'
  | 'released';

/** Runs in a row that came to the same, or what was done between them. */
export interface LoggedDecision {
  /** When the first and the latest of them ended, or it was done; milliseconds since the epoch. */
  readonly at: number;
  readonly lastAt: number;
  readonly runs: number;
  readonly verdict: VerdictWord | ActWord;
  readonly reason: string;
  readonly counts?: LeaseCounts | undefined;
  /** Share of expired candidates. */
  readonly threshold: number;
}

export type NewDecision = Omit<LoggedDecision, 'lastAt' | 'runs'> & { readonly verdict: VerdictWord };
export type NewAct = Pick<LoggedDecision, 'at' | 'reason' | 'threshold'> & { readonly verdict: ActWord };

type Entry = Omit<LoggedDecision, 'lastAt' | 'runs'>;

const isSame = (a: LoggedDecision, b: Entry): boolean =>
  a.verdict === b.verdict &&
  a.reason === b.reason &&
  a.counts?.candidates === b.counts?.candidates &&
  a.counts?.expired === b.counts?.expired &&
  a.threshold === b.threshold;

/** A copy of its own, cut: a text that is put together, or cut out of a longer one, keeps all of its parts. */
const ownText = (text: string): string => Buffer.from(text.slice(0, longestReason)).toString();

/** The latest 50 decisions on a shoot, and what was done between them, bounded in bytes; those in a row that say the same are one. */
export class DecisionLog {
  readonly #kept: LoggedDecision[] = [];
  #reason: string | undefined;

  add(decision: NewDecision): void {
    this.#add(decision);
    this.#reason = this.#kept.at(-1)?.reason;
  }

  note(act: NewAct): void {
    this.#add(act);
  }

  #add(decision: Entry): void {
    const reason = decision.reason.slice(0, longestReason);
    const last = this.#kept.at(-1);
    if (last !== undefined && isSame(last, { ...decision, reason })) {
      this.#kept[this.#kept.length - 1] = { ...last, lastAt: decision.at, runs: last.runs + 1 };
      return;
    }
    this.#kept.push({ ...decision, reason: ownText(reason), lastAt: decision.at, runs: 1 });
    if (this.#kept.length > mostKept) this.#kept.shift();
  }

  /** Of the latest verdict. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** The oldest first. */
  all(): readonly LoggedDecision[] {
    return this.#kept;
  }
}
