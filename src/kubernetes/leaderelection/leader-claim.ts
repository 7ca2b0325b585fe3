import type { NamespacedName } from '../api/resource-ref.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CallResult, Call } from '../api/call.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import type { KubeClient } from '../api/kube.ts';
import type { ElectionLease } from '../api/lease.ts';
import {
  type Claim,
  createElectionLease,
  getElectionLease,
  isHeldByOurs,
  releaseElectionLease,
  renewElectionLease,
  takeElectionLease,
} from './election-calls.ts';
import {
  type Candidate,
  type ElectionState,
  doubtElectionLease,
  electionState,
  emptyElectionMemory,
  leadsUntil,
  missedElectionLease,
  sawElectionLease,
  wroteElectionLease,
} from './election-state.ts';

export interface LeaderClaimOptions extends Candidate {
  /** Client without a rate limit: a renewal that waits for other requests would lose the Lease. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly lease: NamespacedName;
  readonly renewDeadlineMs: number;
}

/**
 * Returns true if the error shows that the Lease may differ from our memory, unlike a lost response or a request to wait. A 5xx shows it, too: the API
 * server responds to a PUT of a deleted Lease with 500 ("resourceVersion should not be set on objects to be created").
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && error.status !== undefined && error.handling !== 'wait';

/**
 * Sends the requests of one candidate for the Lease, one at a time, without waits. All methods reject with an ApiError, and with the signal's
 * reason on abort; they keep what they have learned until then.
 */
export class LeaderClaim {
  readonly #options: LeaderClaimOptions;
  #memory = emptyElectionMemory;
  /** True if a write was sent and neither its response nor a later read has shown its result. */
  #unconfirmed = false;

  constructor(options: LeaderClaimOptions) {
    this.#options = options;
  }

  state(): ElectionState {
    return electionState(this.#memory, this.#options, this.#options.clock.monotonic());
  }

  /** Returns the monotonic instant until which no other candidate can hold the Lease; -Infinity if we do not hold it. */
  leadsUntil(): number {
    return leadsUntil(this.#memory, this.#options.renewDeadlineMs);
  }

  /** See `LeaderWatch.knowsLeader`. */
  knowsLeader(): boolean {
    const { kind } = this.state();
    const { lease } = this.#memory;
    return kind === 'free' || (kind === 'held' && lease !== undefined && isHeldByOurs(lease));
  }

  /** Returns true if the server may have us as the holder, even if we do not lead. */
  mayHold(): boolean {
    return this.#unconfirmed || this.state().kind === 'ours';
  }

  /** Reads the Lease, then writes it if it is absent, free or ours. */
  async acquire(signal: AbortSignal): Promise<void> {
    await this.#read(signal);
    const now = this.state();
    if (now.kind !== 'free') await this.#writeIfOurs(signal);
    else await this.#write(takeElectionLease(this.#options.lease, now.lease, this.#claim()), signal);
  }

  /**
   * Writes without a read; reads and writes once more if the server's Lease differs from our memory. Never takes the Lease back from another
   * holder: our writers must stop if another has led in between. For the same reason a deleted Lease is created only before
   * the monotonic instant `createBefore`: later, another may have held it.
   */
  async renew(signal: AbortSignal, createBefore: number): Promise<void> {
    try {
      await this.#renewOnce(signal, createBefore);
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
    if (this.state().kind !== 'unknown') return;
    await this.#read(signal);
    await this.#renewOnce(signal, createBefore);
  }

  /** Releases the Lease if it is ours, after a read if that is uncertain. */
  async release(signal: AbortSignal): Promise<void> {
    if (this.#unconfirmed || this.state().kind === 'unknown') await this.#read(signal);
    const now = this.state();
    if (now.kind !== 'ours') return;
    await this.#write(releaseElectionLease(this.#options.lease, now.lease, this.#options.clock.now()), signal);
  }

  async #read(signal: AbortSignal): Promise<void> {
    try {
      const { value, receivedAt } = await this.#call(getElectionLease(this.#options.lease), signal);
      this.#memory = sawElectionLease(this.#memory, value, { candidate: this.#options, at: receivedAt });
    } catch (error) {
      if (!isApiError(error, 'NotFound')) throw error;
      this.#memory = missedElectionLease(this.#memory, this.#options);
    }
    this.#unconfirmed = false;
  }

  async #write(call: Call<ElectionLease>, signal: AbortSignal): Promise<void> {
    this.#unconfirmed = true;
    try {
      const { value, sentAt, receivedAt } = await this.#call(call, signal);
      this.#memory = wroteElectionLease(this.#memory, value, { candidate: this.#options, sentAt, at: receivedAt });
      this.#unconfirmed = false;
    } catch (error) {
      if (isRefusal(error)) this.#memory = doubtElectionLease(this.#memory);
      throw error;
    }
  }

  async #writeIfOurs(signal: AbortSignal): Promise<void> {
    const { lease } = this.#options;
    const now = this.state();
    if (now.kind === 'absent') await this.#write(createElectionLease(lease, this.#claim()), signal);
    if (now.kind === 'ours') await this.#write(renewElectionLease(lease, now.lease, this.#claim()), signal);
  }

  async #renewOnce(signal: AbortSignal, createBefore: number): Promise<void> {
    const isLate = this.#options.clock.monotonic() >= createBefore;
    if (this.state().kind !== 'absent' || !isLate) await this.#writeIfOurs(signal);
  }

  #claim(): Claim {
    const { identity, leaseDurationMs, clock } = this.#options;
    return { identity, leaseDurationMs, wall: clock.now() };
  }

  /** Uses a third of the renew deadline as timeout: two connections may hang one after the other, and the Lease is still renewed over a third one. */
  #call(call: Call<ElectionLease>, signal: AbortSignal): Promise<CallResult<ElectionLease>> {
    const { client, renewDeadlineMs } = this.#options;
    return client.call(call, { signal, timeoutMs: renewDeadlineMs / 3 });
  }
}
