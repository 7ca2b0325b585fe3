import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { type ProcessStall, measureStall } from '../client/index.ts';
import type { Scope } from '../transport/index.ts';
import type { LeaderClaim } from './leader-claim.ts';

const tooLate = 'the Lease could not be renewed in time';
const taken = 'another replica has taken the Lease';

/** A process that was held up for this long since the latest renewal, in milliseconds, may be late only because of that. */
const heldUpMs = 500;

export interface LeaseKeeperOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly claim: LeaderClaim;
  readonly retryPeriodMs: number;
  /** Scope of our leadership; it ends when the Lease is lost. */
  readonly term: Scope;
  /** Resolves with true if the work succeeded. Rejects with the reason of the term's signal on abort. */
  readonly attempt: (work: Promise<void>) => Promise<boolean>;
  /** Called when this process may write again, after it was held up. */
  readonly onRegained: () => void;
}

/**
 * Keeps the Lease for one term of leadership. Past the renew deadline we do not write (`Leadership.mayWrite`), and the Lease is lost. But a process that
 * was held up since the latest renewal first attempts one more renewal, or completes the current one: an update by resourceVersion that succeeds shows
 * that no other process has led in between.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  /** Renew deadline as a monotonic instant. */
  #deadline: number;
  /** Time for which the process was held up since the latest renewal, without the current attempt, in milliseconds. */
  #heldUpMs = 0;
  #trying: ProcessStall | undefined;
  #isOverdue = false;
  #disarm: () => void = () => undefined;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#deadline = options.claim.leadsUntil();
  }

  /** Renews until the term ends, and ends it if the Lease is lost. Rejects with the reason. Call it once. */
  async run(): Promise<never> {
    this.#arm();
    try {
      let waitMs = this.#options.retryPeriodMs;
      while (true) {
        await this.#sleep(waitMs);
        waitMs = await this.#renew();
      }
    } finally {
      this.#disarm();
    }
  }

  async #sleep(ms: number): Promise<void> {
    const { clock, term } = this.#options;
    const due = clock.monotonic() + Math.max(0, ms);
    await clock.sleep(ms, term.signal);
    this.#heldUpMs += this.#lateBy(due);
  }

  /** Attempts a renewal and resolves with the milliseconds until the next one. */
  async #renew(): Promise<number> {
    const { clock, claim, retryPeriodMs, term, attempt } = this.#options;
    const startedAt = clock.monotonic();
    if (startedAt >= this.#deadline) this.#noteOverdue();
    const trying = measureStall(clock);
    this.#trying = trying;
    const succeeded = await attempt(claim.renew(term.signal, this.#deadline)).finally(() => trying.end());
    this.#trying = undefined;
    this.#heldUpMs += trying.ms();
    const { kind } = claim.state();
    if (kind === 'held' || kind === 'free') this.#lose(taken);
    if (claim.leadsUntil() > this.#deadline) return this.#renewed(trying.ms());
    if (clock.monotonic() >= this.#deadline) this.#lose(tooLate);
    return succeeded ? retryPeriodMs : startedAt + retryPeriodMs - clock.monotonic();
  }

  /** `sinceSentMs`: for how long the process was held up since the renewal was sent, from when that counts: it may have run out meanwhile. */
  #renewed(sinceSentMs: number): number {
    const { clock, logger, claim, retryPeriodMs, onRegained } = this.#options;
    // The timer may come late, and what this process wanted to write was refused already.
    if (clock.monotonic() >= this.#deadline) this.#noteOverdue();
    this.#heldUpMs = sinceSentMs;
    this.#deadline = claim.leadsUntil();
    this.#arm();
    if (clock.monotonic() >= this.#deadline) return 0;
    if (this.#isOverdue) {
      this.#isOverdue = false;
      logger.info('leader election: the Lease is still ours; writes go on');
      onRegained();
    }
    return retryPeriodMs;
  }

  #arm(): void {
    const { clock } = this.#options;
    this.#disarm();
    this.#disarm = clock.timer(this.#deadline - clock.monotonic(), () => {
      const heldUp = this.#heldUpMs + (this.#trying?.ms() ?? 0) + this.#lateBy(this.#deadline);
      if (heldUp < heldUpMs) this.#lose(tooLate);
      else this.#noteOverdue();
    });
  }

  #noteOverdue(): void {
    if (this.#isOverdue) return;
    this.#isOverdue = true;
    this.#options.logger.warn(
      'leader election: this process was held up; it writes nothing until the Lease is renewed',
    );
  }

  #lateBy(due: number): number {
    return Math.max(0, this.#options.clock.monotonic() - due);
  }

  #lose(why: string): void {
    this.#options.term.fail(new Error(`leader election: ${why}`));
  }
}
