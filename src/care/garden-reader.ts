import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import type { GardenShoot } from '../gardener/care-shoots.ts';
import { ApiError, type Result } from '../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import { getGardenShoot } from './calls.ts';

type ReadOptions = Required<Pick<CallOptions, 'signal' | 'timeoutMs'>>;

/** Timeout of all other reads while one waits for a garden that does not respond, in milliseconds. */
const shortTimeoutMs = 2_000;

const isSilence = ({ code, status }: ApiError): boolean => code === 'Timeout' && status === undefined;

/**
 * Reads Shoots from the garden. While the garden does not respond, one read at a time has its full timeout and all others a short one: every check starts with
 * a read, and the garden must not delay it.
 */
export class GardenReader {
  readonly #garden: KubeClient;
  #isSilent = false;
  #isAwaited = false;

  constructor(garden: KubeClient) {
    this.#garden = garden;
  }

  /** Reads a Shoot. A failed read is data; rejects only with `signal.reason`, or for a bug. */
  async read(shoot: NamespacedName, { signal, timeoutMs }: ReadOptions): Promise<Result<GardenShoot, ApiError>> {
    if (!this.#isSilent) return this.#get(shoot, { signal, timeoutMs });
    if (this.#isAwaited) return this.#get(shoot, { signal, timeoutMs: Math.min(shortTimeoutMs, timeoutMs) });
    this.#isAwaited = true;
    try {
      return await this.#get(shoot, { signal, timeoutMs });
    } finally {
      this.#isAwaited = false;
    }
  }

  async #get(shoot: NamespacedName, options: ReadOptions): Promise<Result<GardenShoot, ApiError>> {
    const call = getGardenShoot(shoot);
    try {
      const { value } = await this.#garden.call(call, options);
      this.#isSilent = false;
      return { ok: true, value };
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof ApiError)) throw error;
      // A request that was never sent proves nothing about the garden.
      if (!error.rateLimited) this.#isSilent = isSilence(error);
      if (!this.#isSilent) return { ok: false, error };
      // The message does not contain the timeout, which varies: every new message would be logged.
      const message = `${call.method} ${call.path}: the garden does not respond`;
      return { ok: false, error: new ApiError({ code: 'Timeout', message, cause: error }) };
    }
  }
}
