import type { Clock } from '../../ports/clock.ts';
import type { Call } from '../api/call.ts';
import { ApiError } from '../api/errors.ts';
import type { KubeClient } from '../api/kube.ts';
import type { ElectionLease } from '../api/lease.ts';
import {
  type Claim,
  type LeaseName,
  createElectionLease,
  getElectionLease,
  releaseElectionLease,
  renewElectionLease,
  takeElectionLease,
} from './election-calls.ts';
import {
  type ElectionMemory,
  type ElectionState,
  doubtElectionLease,
  electionState,
  emptyElectionMemory,
  leadsUntil,
  missedElectionLease,
  sawElectionLease,
  wroteElectionLease,
} from './election-state.ts';

export interface LeaderClaimOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly lease: LeaseName;
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
}

/**
 * One candidate's dealings with the Lease, one request at a time, no waits. All reject with an ApiError, and with the signal's reason on
 * abort; what was learned until then is kept.
 */
export interface LeaderClaim {
  state(): ElectionState;
  /** Monotonic instant until which nobody else can hold the Lease; -Infinity when we do not. */
  leadsUntil(): number;
  /** Whether the server may have us as the holder, though we need not lead. */
  mayHold(): boolean;
  /** Reads, then takes the Lease if it is free or ours. */
  acquire(signal: AbortSignal): Promise<void>;
  /**
   * Writes without a read; reads and writes once more when the server has another Lease than we think. Never takes it back from another:
   * who led in between must not go on as if nothing had happened.
   */
  renew(signal: AbortSignal): Promise<void>;
  /** Gives the Lease up if it is ours, after a read when that is not certain. */
  release(signal: AbortSignal): Promise<void>;
}

/**
 * A refusal, in contrast to an answer that was lost or put off: the Lease may not be what we think. That goes for 5xx too: a PUT to a Lease
 * that was deleted is answered with 500 ("resourceVersion should not be set on objects to be created").
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && error.status !== undefined && error.handling !== 'wait';

export const createLeaderClaim = (options: LeaderClaimOptions): LeaderClaim => {
  const { client, clock, lease: at, identity, leaseDurationMs, renewDeadlineMs } = options;
  const candidate = { identity, leaseDurationMs };
  /** So that a connection that hangs leaves time for another try. */
  const timeoutMs = renewDeadlineMs / 2;
  let memory: ElectionMemory = emptyElectionMemory;
  /** A write was sent, and nothing was heard of it since. */
  let unconfirmed = false;

  const state = (): ElectionState => electionState(memory, candidate, clock.monotonic());
  const claim = (): Claim => ({ identity, leaseDurationMs, wall: clock.now() });

  const read = async (signal: AbortSignal): Promise<void> => {
    try {
      const { value, receivedAt } = await client.call(getElectionLease(at), { signal, timeoutMs });
      memory = sawElectionLease(memory, value, { candidate, at: receivedAt });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'NotFound') throw error;
      memory = missedElectionLease(memory, candidate);
    }
    unconfirmed = false;
  };

  const write = async (call: Call<ElectionLease>, signal: AbortSignal): Promise<void> => {
    unconfirmed = true;
    try {
      const { value, sentAt, receivedAt } = await client.call(call, { signal, timeoutMs });
      memory = wroteElectionLease(memory, value, { candidate, sentAt, at: receivedAt });
      unconfirmed = false;
    } catch (error) {
      if (isRefusal(error)) memory = doubtElectionLease(memory);
      throw error;
    }
  };

  const writeIfOurs = async (signal: AbortSignal): Promise<void> => {
    const now = state();
    if (now.kind === 'absent') await write(createElectionLease(at, claim()), signal);
    if (now.kind === 'ours') await write(renewElectionLease(at, now.lease, claim()), signal);
  };

  return {
    state,
    leadsUntil: () => leadsUntil(memory, renewDeadlineMs),
    mayHold: () => unconfirmed || state().kind === 'ours',
    acquire: async (signal) => {
      await read(signal);
      const now = state();
      if (now.kind === 'free') await write(takeElectionLease(at, now.lease, claim()), signal);
      else await writeIfOurs(signal);
    },
    renew: async (signal) => {
      try {
        await writeIfOurs(signal);
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
      if (state().kind !== 'unknown') return;
      await read(signal);
      await writeIfOurs(signal);
    },
    release: async (signal) => {
      if (unconfirmed || state().kind === 'unknown') await read(signal);
      const now = state();
      if (now.kind === 'ours') await write(releaseElectionLease(at, now.lease, clock.now()), signal);
    },
  };
};
