import type { CareShoot, GardenShoot } from '../gardener/care-shoots.ts';
import type { UpdatedCondition } from '../gardener/condition.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { retryOnConflict } from '../kubernetes/client/index.ts';
import { type CareActDeps, act, gardenTimeoutMs, type WriteResult } from './act.ts';
import { getGardenShoot } from './calls.ts';

export interface WriteRequest {
  readonly stored: GardenShoot;
  /** Computes the conditions from the stored ones, on which thresholds depend. Called again after a conflict. */
  readonly updatesOf: (shoot: CareShoot) => readonly UpdatedCondition[];
  /** Time after which a conflict is not retried but left to the next check, in monotonic milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

export interface Written {
  readonly writing: WriteResult;
  readonly updates: readonly UpdatedCondition[];
}

/** Writes differences, and retries after a conflict with the Shoot read again. A failed write is data; rejects only with `signal.reason`, or for a bug. */
export const writeConditions = async (
  deps: CareActDeps,
  { stored, updatesOf, deadline, signal }: WriteRequest,
): Promise<Written> => {
  const { clock, garden } = deps;
  let updates: Written['updates'] = [];
  try {
    const writing = await retryOnConflict<GardenShoot, WriteResult>(stored, {
      attempt: (latest) => {
        updates = updatesOf(latest.shoot);
        return act(deps, { stored: latest, updates, signal });
      },
      reread: async ({ shoot, metadata: { uid } }) => {
        const { value } = await garden.call(getGardenShoot(shoot), { signal, timeoutMs: gardenTimeoutMs });
        return value.metadata.uid === uid ? value : undefined;
      },
      mayRetry: () => clock.monotonic() < deadline,
    });
    return { writing: writing ?? { kind: 'gone' }, updates };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) return { writing: failureOf(error), updates };
    throw error;
  }
};

export const failureOf = ({ code, message }: ApiError): WriteResult =>
  code === 'NotFound' ? { kind: 'gone' } : { kind: 'failed', error: message };
