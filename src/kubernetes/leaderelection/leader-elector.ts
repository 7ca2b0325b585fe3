import type { Logger } from '../../ports/logger.ts';
import type { Random } from '../../ports/random.ts';
import { ApiError, errorText } from '../api/errors.ts';
import type { LeaderWatch, Leadership } from '../api/leadership.ts';
import { type Scope, createScope, runInScope } from '../transport/index.ts';
import { type ElectionTimes, electionJitterFactor } from './election-state.ts';
import { LeaderClaim, type LeaderClaimOptions } from './leader-claim.ts';
import { LeaseKeeper } from './lease-keeper.ts';

const releaseTimeoutMs = 2_000;
const releaseRetryMs = 50;

/** `lost`: the Lease could not be renewed in time, or another replica has it. `stopped`: the caller's signal aborted. */
export type LeadershipEnd = 'lost' | 'stopped';

/** For the times see `ElectionTimes`. Writes of two leaders do not overlap if each ends within the lease duration minus the renew deadline. */
export interface LeaderElectorOptions extends LeaderClaimOptions, ElectionTimes {
  readonly random: Random;
  readonly logger: Logger;
  /** Called once, when this process has stopped leading. The Lease is released only when the promise resolves: it covers writes in flight. */
  readonly onStopped: (end: LeadershipEnd) => Promise<void>;
}

/**
 * Elects one leader among replicas by a Lease, with the protocol of client-go's `tools/leaderelection`, so that Go programs can share the Lease.
 * Needs the right to `create` Leases, and to `get` and `update` this one.
 */
export class LeaderElector implements Leadership, LeaderWatch {
  readonly #options: LeaderElectorOptions;
  readonly #logger: Logger;
  readonly #claim: LeaderClaim;
  readonly #listeners = new Set<() => void>();
  /** Scope of our leadership; set once we lead, and kept afterwards. */
  #term: Scope | undefined;
  /** Holder that was logged last. */
  #holder: string | undefined;
  /** Problem that was logged last; undefined after a success. */
  #problem: string | undefined;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#logger = options.logger.child({ lease: `${options.lease.namespace}/${options.lease.name}` });
    this.#claim = new LeaderClaim(options);
  }

  mayWrite(): boolean {
    return this.#term !== undefined && !this.#term.signal.aborted && this.#isHeld();
  }

  knowsLeader(): boolean {
    return this.#claim.knowsLeader();
  }

  onLead(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Waits for the Lease and keeps it, until it is lost or `signal` aborts. On abort it stops leading at once, waits for `onStopped`, then
   * releases the Lease. Rejects only with an error of a callback. Call it once.
   */
  async run(signal: AbortSignal): Promise<LeadershipEnd> {
    try {
      await this.#acquire(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      await this.#release();
      return 'stopped';
    }
    const end = await this.#lead(signal);
    // If `onStopped` took longer than our time with the Lease, writes may still be in flight: then others must wait until the Lease expires.
    if (end === 'stopped' && this.#isHeld()) await this.#release();
    return end;
  }

  #isHeld(): boolean {
    return this.#options.clock.monotonic() < this.#claim.leadsUntil();
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    while (true) {
      signal.throwIfAborted();
      await this.#attempt(this.#claim.acquire(signal), signal);
      if (this.#isHeld()) return;
      await this.#options.clock.sleep(this.#pauseMs(), signal);
    }
  }

  /** Returns the pause before the next attempt: jittered as in client-go, never beyond the expiry of the Lease. */
  #pauseMs(): number {
    const { clock, random, retryPeriodMs } = this.#options;
    const state = this.#claim.state();
    const pauseMs = retryPeriodMs * (1 + electionJitterFactor * random.next());
    return state.kind === 'held' ? Math.min(pauseMs, state.until - clock.monotonic()) : pauseMs;
  }

  async #lead(signal: AbortSignal): Promise<LeadershipEnd> {
    const { clock, identity, onStopped } = this.#options;
    const term = createScope({ signal, clock });
    this.#term = term;
    this.#logger.info('started leading', { identity });
    try {
      this.#tellListeners();
      await this.#keeperOf(term).run();
    } catch (error) {
      if (error !== term.signal.reason) throw error;
      this.#logger.info('stopped leading', { reason: errorText(error) });
    } finally {
      term.fail(new Error('leader election: ended'));
    }
    const end = signal.aborted ? 'stopped' : 'lost';
    await onStopped(end);
    return end;
  }

  #keeperOf(term: Scope): LeaseKeeper {
    const attempt = (work: Promise<void>): Promise<boolean> => this.#attempt(work, term.signal);
    const onRegained = (): void => this.#tellListeners();
    return new LeaseKeeper({ ...this.#options, logger: this.#logger, claim: this.#claim, term, attempt, onRegained });
  }

  #tellListeners(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  async #release(): Promise<void> {
    const late = new Error(`not within ${releaseTimeoutMs} ms`);
    const { signal } = new AbortController();
    const { clock } = this.#options;
    try {
      await runInScope({ signal, clock, timeoutMs: releaseTimeoutMs, onTimeout: () => late }, async (until) => {
        while (this.#claim.mayHold()) {
          if (await this.#attempt(this.#claim.release(until), until)) break;
          await clock.sleep(releaseRetryMs, until);
        }
      });
    } catch (error) {
      if (error !== late) throw error;
      const problem = String(late);
      this.#logger.warn('leader election: the Lease was not released; it runs out by itself', { problem });
    }
  }

  /** Resolves with true if the work succeeded. Rejects with the signal's reason on abort, and with any error that is not an ApiError. */
  async #attempt(work: Promise<void>, signal: AbortSignal): Promise<boolean> {
    try {
      await work;
      this.#problem = undefined;
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiError)) throw error;
      this.#logProblem(error);
      return false;
    } finally {
      this.#logHolder();
    }
  }

  /** Logs a problem, as a warning only if it is new and not a lost race for the Lease, which is normal. */
  #logProblem({ code, message }: ApiError): void {
    const isNews = code !== 'Conflict' && code !== 'AlreadyExists' && message !== this.#problem;
    if (isNews) this.#problem = message;
    this.#logger[isNews ? 'warn' : 'debug']('leader election: a request failed, trying again', { problem: message });
  }

  #logHolder(): void {
    const state = this.#claim.state();
    if (state.kind !== 'held' || state.holder === '' || state.holder === this.#holder) return;
    this.#holder = state.holder;
    this.#logger.info('leader election: another replica leads', { holder: state.holder });
  }
}
