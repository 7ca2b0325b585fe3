import type { CareShoot, GardenShoot } from '../gardener/care-shoots.ts';
import type { UpdatedCondition } from '../gardener/condition.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { retryOnConflict } from '../kubernetes/client/index.ts';
import { type CareActDeps, act, gardenTimeoutMs, type WriteResult } from './act.ts';
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

/** Writes what differs, after a conflict from the Shoot as it is then. A failed write is data; rejects only with `signal.reason`, or for a bug. */
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
