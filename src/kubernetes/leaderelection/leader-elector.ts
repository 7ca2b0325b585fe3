import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Random } from '../../ports/random.ts';
import { ApiError } from '../api/errors.ts';
import type { KubeClient } from '../api/kube.ts';
import type { Leadership } from '../api/leadership.ts';
import { type Scope, createScope } from '../client/index.ts';
import type { LeaseName } from './election-calls.ts';
import { checkElectionTimes, electionJitterFactor } from './election-state.ts';
import { type LeaderClaim, createLeaderClaim } from './leader-claim.ts';

const defaultReleaseTimeoutMs = 2_000;
const releaseRetryMs = 50;
const tooLate = 'the Lease could not be renewed in time';

/** `lost`: the Lease could not be renewed in time, or another has it. `stopped`: the caller's signal. */
export type LeadershipEnd = 'lost' | 'stopped';

export interface LeaderElectorOptions {
  /** Without a rate limit: a renewal that waits behind other requests loses the Lease. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly lease: LeaseName;
  /** Unique to this process, such as the host name and a random part: who bears the holder's name takes the Lease for its own. */
  readonly identity: string;
  /** See `checkElectionTimes`. Writes that others must not overlap have to end within the first minus the second. */
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  /** For giving the Lease up at a clean stop. Default 2 s. */
  readonly releaseTimeoutMs?: number;
  /** Called once, when leading begins. `signal` aborts when it ends. */
  readonly onStarted?: (signal: AbortSignal) => void;
  /** Called once after `onStarted`, when leading has ended. The Lease is released when the promise resolves: it covers writes in flight. */
  readonly onStopped?: (end: LeadershipEnd) => void | Promise<void>;
}

export interface LeaderElector extends Leadership {
  /**
   * Waits for the Lease and keeps it, until it is lost or `signal` aborts. A clean stop ends leading at once, waits for `onStopped`, then
   * releases the Lease. Rejects with what a callback throws, and with nothing else. To be called once.
   */
  run(signal: AbortSignal): Promise<LeadershipEnd>;
  /** The same as `mayWrite()`. */
  readonly leading: boolean;
}

/**
 * Elects one leader among replicas by a Lease, in the protocol of client-go's `tools/leaderelection`, so that it hands over with Go programs.
 * Needs `create` on Leases and `get` and `update` on the one. Throws a RangeError for times that cannot be used.
 */
export const createLeaderElector = (options: LeaderElectorOptions): LeaderElector => {
  const { clock, random, retryPeriodMs, identity } = options;
  const [problem] = checkElectionTimes(options);
  if (problem !== undefined) throw new RangeError(`leader election: ${problem.field} ${problem.problem}`);
  if (identity === '') throw new RangeError('leader election: identity must not be empty');
  const logger = options.logger.child({ lease: `${options.lease.namespace}/${options.lease.name}` });
  let complaint: string | undefined;
  const claim: LeaderClaim = createLeaderClaim(options);
  let term: Scope | undefined;
  let holder: string | undefined;

  const isHeld = (): boolean => clock.monotonic() < claim.leadsUntil();
  const mayWrite = (): boolean => term !== undefined && !term.signal.aborted && isHeld();

  const noteHolder = (): void => {
    const state = claim.state();
    if (state.kind !== 'held' || state.holder === '' || state.holder === holder) return;
    holder = state.holder;
    logger.info('leader election: another replica leads', { holder });
  };

  /** Told again only when it changes; losing a race for the Lease is no problem at all. */
  const complain = ({ code, message }: ApiError): void => {
    const isNews = code !== 'Conflict' && code !== 'AlreadyExists' && message !== complaint;
    if (isNews) complaint = message;
    logger[isNews ? 'warn' : 'debug']('leader election: a request failed, trying again', { problem: message });
  };

  /** Whether it succeeded. */
  const attempt = async (work: Promise<void>, signal: AbortSignal): Promise<boolean> => {
    try {
      await work;
      complaint = undefined;
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ApiError)) throw error;
      complain(error);
      return false;
    } finally {
      noteHolder();
    }
  };

  /** Jittered as client-go's; but the moment at which the Lease runs out is not slept through. */
  const pauseMs = (): number => {
    const state = claim.state();
    const jittered = retryPeriodMs * (1 + electionJitterFactor * random.next());
    return state.kind === 'held' ? Math.min(jittered, state.until - clock.monotonic()) : jittered;
  };

  const acquire = async (signal: AbortSignal): Promise<void> => {
    while (true) {
      signal.throwIfAborted();
      await attempt(claim.acquire(signal), signal);
      if (isHeld()) return;
      await clock.sleep(pauseMs(), signal);
    }
  };

  /** Renews until the scope ends, and ends it when the Lease is lost. */
  const keep = async (scope: Scope): Promise<void> => {
    const lose = (why: string): void => scope.fail(new Error(`leader election: ${why}`));
    let deadline = claim.leadsUntil();
    let disarm = (): void => undefined;
    const arm = (): void => {
      deadline = Math.max(deadline, claim.leadsUntil());
      disarm();
      disarm = clock.timer(deadline - clock.monotonic(), () => lose(tooLate));
    };
    arm();
    try {
      let waitMs = retryPeriodMs;
      while (true) {
        await clock.sleep(waitMs, scope.signal);
        const startedAt = clock.monotonic();
        if (startedAt >= deadline) {
          // A suspended process may wake up here before the timer does.
          lose(tooLate);
          continue;
        }
        const renewed = await attempt(claim.renew(scope.signal), scope.signal);
        const { kind } = claim.state();
        if (kind === 'held' || kind === 'free') lose('another replica has taken the Lease');
        arm();
        waitMs = renewed ? retryPeriodMs : startedAt + retryPeriodMs - clock.monotonic();
      }
    } catch (error) {
      if (!scope.signal.aborted) throw error;
      logger.info('stopped leading', { reason: error instanceof Error ? error.message : String(error) });
    } finally {
      disarm();
    }
  };

  const release = async (): Promise<void> => {
    const timeoutMs = options.releaseTimeoutMs ?? defaultReleaseTimeoutMs;
    const onTimeout = (): Error => new Error(`not within ${timeoutMs} ms`);
    const scope = createScope({ signal: new AbortController().signal, clock, timeoutMs, onTimeout });
    try {
      while (claim.mayHold()) {
        if (await attempt(claim.release(scope.signal), scope.signal)) break;
        await clock.sleep(releaseRetryMs, scope.signal);
      }
    } catch (error) {
      if (!scope.signal.aborted) throw error;
      logger.warn('leader election: the Lease was not released; it runs out by itself', { problem: String(error) });
    } finally {
      scope.end();
    }
  };

  const lead = async (signal: AbortSignal): Promise<LeadershipEnd> => {
    const scope = createScope({ signal, clock, timeoutMs: undefined, onTimeout: () => undefined });
    term = scope;
    logger.info('started leading', { identity });
    try {
      options.onStarted?.(scope.signal);
      await keep(scope);
    } finally {
      scope.fail(new Error('leader election: ended'));
    }
    const end = signal.aborted ? 'stopped' : 'lost';
    await options.onStopped?.(end);
    return end;
  };

  const run = async (signal: AbortSignal): Promise<LeadershipEnd> => {
    try {
      await acquire(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      await release();
      return 'stopped';
    }
    const end = await lead(signal);
    // What took longer than the Lease is good for may still write: then others have to wait for the Lease to run out.
    if (end === 'stopped' && isHeld()) await release();
    return end;
  };

  return {
    run,
    mayWrite,
    get leading() {
      return mayWrite();
    },
  };
};
