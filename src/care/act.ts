import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { type CareShoot, type GardenShoot, decodeGardenShoot } from '../gardener/care-shoots.ts';
import { type Condition, mergeConditions, sameConditions } from '../gardener/condition.ts';
import { shootConditionTypes } from '../gardener/shoot-conditions.ts';
import { shootLabelChange, shootStatus } from '../gardener/shoot-status.ts';
import type { Call } from '../kubernetes/api/call.ts';
import type { JsonObject } from '../kubernetes/api/decode.ts';
import { ApiError, type Result } from '../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { retryOnConflict } from '../kubernetes/client/index.ts';
import type { Clock } from '../ports/clock.ts';
import { type ConditionWriter, otherConditionWriter } from './condition-writers.ts';

/** Field manager of our writes to Shoots. */
const fieldManager = 'dependency-watchdog-care';

const shootPath = ({ namespace, name }: NamespacedName): string =>
  resourcePath({ apiVersion: 'core.gardener.cloud/v1beta1', resource: 'shoots', namespace, name });

const getShoot = (at: NamespacedName): Call<GardenShoot> => ({
  method: 'GET',
  path: shootPath(at),
  decode: decodeGardenShoot,
});

/** Changes a Shoot or its status. Fails with a Conflict if the Shoot has changed since it was read: `body` has its resourceVersion. */
const patchShoot = (path: string, body: JsonObject): Call<GardenShoot> => ({
  method: 'PATCH',
  path,
  query: { fieldManager },
  contentType: 'application/merge-patch+json',
  repeatable: true,
  body,
  decode: decodeGardenShoot,
});

/** The end of a check's write. */
export type WriteResult =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'written' }
  /** No connection to the garden is configured. */
  | { readonly kind: 'no-garden' }
  | { readonly kind: 'dry-run' }
  /** The garden has no such Shoot, or another Shoot of that name. */
  | { readonly kind: 'gone' }
  /** The control plane has moved to another seed, where another care writes. */
  | { readonly kind: 'elsewhere'; readonly seed: string }
  /** Another client writes the same conditions. */
  | { readonly kind: 'left-alone'; readonly writer: ConditionWriter }
  | { readonly kind: 'failed'; readonly error: string };

/** Returns why nothing was written although it should have been, for people; empty if there is no such reason. */
export const troubleOf = (writing: WriteResult): string => {
  switch (writing.kind) {
    case 'left-alone':
      return `left alone: ${writing.writer.manager} writes these conditions; --take-over writes them all the same`;
    case 'failed':
      return `conditions could not be written: ${writing.error}`;
    case 'gone':
      return 'there is no such Shoot in the garden';
    case 'elsewhere':
      return `not written: the Shoot is on seed ${writing.seed} now`;
    case 'unchanged':
    case 'written':
    case 'no-garden':
    case 'dry-run':
      return '';
  }
};

export const failureOf = ({ code, message }: ApiError): WriteResult =>
  code === 'NotFound' ? { kind: 'gone' } : { kind: 'failed', error: message };

export interface GardenOptions {
  readonly clock: Clock;
  /** Client of the garden that refuses a write right before it is sent if this process does not lead. */
  readonly client: KubeClient;
  /** True if care writes even if another client writes the same conditions. */
  readonly takeOver: boolean;
  readonly dryRun: boolean;
}

export interface WriteRequest {
  readonly stored: GardenShoot;
  /** Computes the conditions from the stored ones, on which thresholds depend. Called again after a conflict. */
  readonly conditionsOf: (shoot: CareShoot) => readonly Condition[];
  readonly legacyStatusLabels: boolean;
  /** Time after which a conflict is not retried but left to the next check, in monotonic milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

export interface Written {
  readonly writing: WriteResult;
  readonly conditions: readonly Condition[];
}

const timeoutMs = 10_000;
/** Timeout of all other reads while one waits for a garden that does not respond, in milliseconds. */
const shortTimeoutMs = 2_000;

const isSilence = ({ code, status }: ApiError): boolean => code === 'Timeout' && status === undefined;

/** Reads the Shoots of the garden, and writes their conditions. */
export class Garden {
  readonly #options: GardenOptions;
  /** True while the garden does not respond. */
  #isSilent = false;
  /** True while a read with the full timeout waits for a silent garden. */
  #isAwaited = false;

  constructor(options: GardenOptions) {
    this.#options = options;
  }

  /**
   * Reads a Shoot. A failed read is data; rejects only with `signal.reason`, or for a bug. While the garden does not respond, one read at a time has its full
   * timeout and all others a short one: every check starts with a read, and the garden must not delay it.
   */
  async read(
    at: NamespacedName,
    { signal, longestMs }: { readonly signal: AbortSignal; readonly longestMs: number },
  ): Promise<Result<GardenShoot, ApiError>> {
    const isShort = this.#isSilent && this.#isAwaited;
    const isAwaiting = this.#isSilent && !isShort;
    if (isAwaiting) this.#isAwaited = true;
    try {
      return await this.#get(at, { signal, timeoutMs: Math.min(isShort ? shortTimeoutMs : timeoutMs, longestMs) });
    } finally {
      if (isAwaiting) this.#isAwaited = false;
    }
  }

  async #get(
    at: NamespacedName,
    options: Required<Pick<CallOptions, 'signal' | 'timeoutMs'>>,
  ): Promise<Result<GardenShoot, ApiError>> {
    const call = getShoot(at);
    try {
      const { value } = await this.#options.client.call(call, options);
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

  /**
   * Writes conditions and labels that differ, and retries after a conflict with the Shoot read again. A failed write is data; rejects only with
   * `signal.reason`, or for a bug.
   */
  async write(request: WriteRequest): Promise<Written> {
    const { clock, client } = this.#options;
    const { stored, conditionsOf, deadline, signal } = request;
    let conditions: Written['conditions'] = [];
    try {
      const writing = await retryOnConflict<GardenShoot, WriteResult>(stored, {
        attempt: (latest) => {
          conditions = conditionsOf(latest.shoot);
          return this.#writeOnce(latest, conditions, request);
        },
        reread: async ({ shoot, metadata: { uid } }) => {
          const { value } = await client.call(getShoot(shoot), { signal, timeoutMs });
          return value.metadata.uid === uid ? value : undefined;
        },
        mayRetry: () => clock.monotonic() < deadline,
      });
      return { writing: writing ?? { kind: 'gone' }, conditions };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ApiError) return { writing: failureOf(error), conditions };
      throw error;
    }
  }

  /** Sends at most one patch of the conditions and one of the labels. */
  async #writeOnce(
    stored: GardenShoot,
    fresh: readonly Condition[],
    { legacyStatusLabels: legacy, signal }: WriteRequest,
  ): Promise<WriteResult> {
    const { clock, client, takeOver, dryRun } = this.#options;
    const { shoot, storedConditions, metadata } = stored;
    const merged = mergeConditions(shoot.conditions, fresh, shootConditionTypes);
    const labels = shootLabelChange(shoot.labels, { status: shootStatus(merged, shoot), legacy });
    const isSame = sameConditions(merged, shoot.conditions);
    const hasLabels = Object.keys(labels).length > 0;
    if (isSame && !hasLabels) return { kind: 'unchanged' };
    const writer = otherConditionWriter(metadata, { own: fieldManager, now: clock.now() });
    if (writer !== undefined && !takeOver) return { kind: 'left-alone', writer };
    if (dryRun) return { kind: 'dry-run' };
    // A write that was sent is awaited even if the process stops meanwhile.
    const options: CallOptions = { signal, timeoutMs, sentTimeoutMs: timeoutMs };
    const path = shootPath(shoot);
    let { resourceVersion } = stored;
    if (!isSame) {
      const conditions = mergeConditions(storedConditions, fresh, shootConditionTypes);
      const body = { metadata: { resourceVersion }, status: { conditions } };
      ({ resourceVersion } = (await client.call(patchShoot(`${path}/status`, body), options)).value);
    }
    if (hasLabels) await client.call(patchShoot(path, { metadata: { resourceVersion, labels } }), options);
    return { kind: 'written' };
  }
}
