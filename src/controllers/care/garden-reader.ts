import { ApiError, type GardenShoot, getGardenShoot, type NamespacedName, type Result } from '../../domain/index.ts';
import type { CallOptions, KubeClient } from '../../ports/index.ts';

/** Shoots as the garden stores them. */
export interface GardenReader {
  /** Rejects only with `signal.reason`. */
  read(
    shoot: NamespacedName,
    options: Required<Pick<CallOptions, 'signal' | 'timeoutMs'>>,
  ): Promise<Result<GardenShoot, ApiError>>;
}

const impatientMs = 2_000;

const isSilence = ({ code, status }: ApiError): boolean => code === 'Timeout' && status === undefined;

/**
 * While the garden does not answer, one request at a time waits for it as long as it may, and all others not long: every run begins with one, and
 * shoots have to be checked all the same.
 */
export const createGardenReader = (garden: KubeClient): GardenReader => {
  let isSilent = false;
  let isAwaited = false;

  const ask = async (shoot: NamespacedName, options: CallOptions): Promise<Result<GardenShoot, ApiError>> => {
    const call = getGardenShoot(shoot);
    try {
      const { value } = await garden.call(call, options);
      isSilent = false;
      return { ok: true, value };
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof ApiError)) throw error;
      // What was not even sent tells nothing of the garden.
      if (!error.heldBack) isSilent = isSilence(error);
      // However long it was waited for: what differs from run to run is told in each.
      const message = `${call.method} ${call.path}: the garden does not answer`;
      return { ok: false, error: isSilent ? new ApiError({ code: 'Timeout', message, cause: error }) : error };
    }
  };

  return {
    read: async (shoot, { signal, timeoutMs }) => {
      if (isSilent && isAwaited) return ask(shoot, { signal, timeoutMs: Math.min(impatientMs, timeoutMs) });
      const isTheOne = isSilent;
      if (isTheOne) isAwaited = true;
      try {
        return await ask(shoot, { signal, timeoutMs });
      } finally {
        if (isTheOne) isAwaited = false;
      }
    },
  };
};
