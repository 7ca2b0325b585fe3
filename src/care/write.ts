import type { CareShoot, GardenShoot } from '../gardener/care-shoots.ts';
import type { UpdatedCondition } from '../gardener/condition.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { type ActDeps, type WriteResult, act, gardenTimeoutMs } from './act.ts';
import { getGardenShoot } from './calls.ts';

export interface WriteRequest {
  readonly stored: GardenShoot;
  /** Makes the conditions anew from those that are stored: thresholds depend on them. */
  readonly updatesOf: (shoot: CareShoot) => readonly UpdatedCondition[];
  /** Monotonic instant after which a conflict is left to the next check. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

export interface Written {
  readonly writing: WriteResult;
  readonly updates: readonly UpdatedCondition[];
}

/** Another client that writes all the time makes every attempt a conflict. */
const maxAttempts = 5;

/** Writes what differs. On a conflict reads the Shoot again and starts over. Rejects only with `signal.reason`, or for a bug. */
export const writeConditions = async (
  deps: ActDeps,
  { stored, updatesOf, deadline, signal }: WriteRequest,
): Promise<Written> => {
  let latest = stored;
  for (let attempt = 1; ; attempt += 1) {
    const updates = updatesOf(latest.shoot);
    const writing = await act(deps, { stored: latest, updates, signal });
    if (writing.kind !== 'conflict') return { writing, updates };
    const isLast = attempt === maxAttempts || deps.clock.monotonic() >= deadline;
    if (isLast) return { writing: { kind: 'failed', error: writing.error }, updates };
    const reread = await readAgain(deps, latest, signal);
    if ('kind' in reread) return { writing: reread, updates };
    latest = reread;
  }
};

/** The Shoot after a conflict, or why there is nothing to write to. */
const readAgain = async (
  { garden }: ActDeps,
  { shoot, metadata: { uid } }: GardenShoot,
  signal: AbortSignal,
): Promise<GardenShoot | WriteResult> => {
  try {
    const { value } = await garden.call(getGardenShoot(shoot), { signal, timeoutMs: gardenTimeoutMs });
    return value.metadata.uid === uid ? value : { kind: 'gone' };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) return failureOf(error);
    throw error;
  }
};

export const failureOf = ({ code, message }: ApiError): WriteResult =>
  code === 'NotFound' ? { kind: 'gone' } : { kind: 'failed', error: message };
