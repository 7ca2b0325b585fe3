import type { NamespacedName } from '../api/resource-ref.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Answer, Call } from '../api/call.ts';
import { ApiError, isApiError } from '../api/errors.ts';
import type { KubeClient } from '../api/kube.ts';
import type { ElectionLease } from '../api/lease.ts';
import {
  type Claim,
  createElectionLease,
  getElectionLease,
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
  /** Without a rate limit: a renewal that waits behind other requests loses the Lease. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly lease: NamespacedName;
  readonly renewDeadlineMs: number;
}

/**
 * A refusal, unlike a lost or postponed answer, means that the Lease may not be what we think. So does a 5xx: the API server answers a PUT to a
 * deleted Lease with 500 ("resourceVersion should not be set on objects to be created").
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && error.status !== undefined && error.handling !== 'wait';

/**
 * One candidate's requests for the Lease, one at a time, without waits. All reject with an ApiError, and with the signal's reason on
 * abort; what was learned until then is kept.
 */
export class LeaderClaim {
  readonly #options: LeaderClaimOptions;
  #memory = emptyElectionMemory;
  /** A write was sent and not confirmed since. */
  #unconfirmed = false;
  /** When the latest read was answered. Monotonic milliseconds. */
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(options: LeaderClaimOptions) {
    this.#options = options;
  }

  state(): ElectionState {
    return electionState(this.#memory, this.#options, this.#options.clock.monotonic());
  }

  /** Monotonic instant until which nobody else can hold the Lease; -Infinity when we do not. */
  leadsUntil(): number {
    return leadsUntil(this.#memory, this.#options.renewDeadlineMs);
  }

  /** Milliseconds between the reads that first and last showed the Lease of another as it is; undefined where the last is older than `maxAgeMs`. */
  holderSilentMs(maxAgeMs: number): number | undefined {
    const { lease, seenAt, current } = this.#memory;
    const isOthers = current && lease !== undefined && lease.holder !== '' && lease.holder !== this.#options.identity;
    const isRead = this.#options.clock.monotonic() - this.#readAt <= maxAgeMs;
    return isOthers && isRead ? this.#readAt - seenAt : undefined;
  }

  /** True if the server may have us as the holder, though we need not lead. */
  mayHold(): boolean {
    return this.#unconfirmed || this.state().kind === 'ours';
  }

  /** Reads, then takes the Lease if it is free or ours. */
  async acquire(signal: AbortSignal): Promise<void> {
    await this.#read(signal);
    const now = this.state();
    if (now.kind !== 'free') await this.#writeIfOurs(signal);
    else await this.#write(takeElectionLease(this.#options.lease, now.lease, this.#claim()), signal);
  }

  /**
   * Writes without a read; reads and writes once more when the server has another Lease than we think. Never takes it back from another
   * holder: our writers must stop when somebody else has led in between. For the same reason a Lease that has vanished is created only before
   * the monotonic instant `createBefore`: later, another may have had it.
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

  /** Gives the Lease up if it is ours, after a read when that is not certain. */
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
      this.#readAt = receivedAt;
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

  /** After a time-out the transport opens another connection: two may hang one after the other, and the Lease is still renewed. */
  #call(call: Call<ElectionLease>, signal: AbortSignal): Promise<Answer<ElectionLease>> {
    const { client, renewDeadlineMs } = this.#options;
    return client.call(call, { signal, timeoutMs: renewDeadlineMs / 3 });
  }
}
