import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import type { GardenShoot } from '../gardener/care-shoots.ts';
import { ApiError, type Result } from '../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import { getGardenShoot } from './calls.ts';

type ReadOptions = Required<Pick<CallOptions, 'signal' | 'timeoutMs'>>;

/** The longest wait of other reads while one waits for a garden that does not answer. */
const shortTimeoutMs = 2_000;

const isSilence = ({ code, status }: ApiError): boolean => code === 'Timeout' && status === undefined;

/**
 * Reads Shoots from the garden. While the garden does not answer, one read at a time waits its full time and all others a short one: every check
 * begins with a read, and must not be held up by the garden.
 */
export class GardenReader {
  readonly #garden: KubeClient;
  #isSilent = false;
  #isAwaited = false;

  constructor(garden: KubeClient) {
    this.#garden = garden;
  }

  /** Rejects only with `signal.reason`, or for a bug. */
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
      // A request that was never sent shows nothing about the garden.
      if (!error.heldBack) this.#isSilent = isSilence(error);
      if (!this.#isSilent) return { ok: false, error };
      // Without the time-out, which differs from read to read: a text that differs would be logged each time.
      const message = `${call.method} ${call.path}: the garden does not answer`;
      return { ok: false, error: new ApiError({ code: 'Timeout', message, cause: error }) };
    }
  }
}
