import { isDeepStrictEqual } from 'node:util';
import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { type CareShoot, type GardenShoot, decodeGardenShoot } from '../gardener/care-shoots.ts';
import { type Condition, mergeConditions } from '../gardener/condition.ts';
import { shootConditionTypes } from '../gardener/shoot-conditions.ts';
import { shootLabelChange, shootStatus } from '../gardener/shoot-status.ts';
import type { Call } from '../kubernetes/api/call.ts';
import type { JsonObject } from '../kubernetes/api/decode.ts';
import { type ApiError, type Result, resultOf } from '../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { retryOnConflict } from '../kubernetes/client/index.ts';
import type { Clock } from '../ports/clock.ts';
import { otherConditionWriter } from './condition-writers.ts';

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
export interface WriteResult {
  /**
   * `gone`: the garden has no such Shoot, or another Shoot of that name. `elsewhere`: the control plane has moved to another seed, where another care writes.
   * `left-alone`: another client writes the same conditions.
   */
  readonly kind: 'unchanged' | 'written' | 'no-garden' | 'dry-run' | 'gone' | 'elsewhere' | 'left-alone' | 'failed';
  /** Why something was not written although it should have been, for people. With `written` and `unchanged`, only the label was not. */
  readonly trouble?: string;
}

export const gone: WriteResult = { kind: 'gone', trouble: 'there is no such Shoot in the garden' };

export const failureOf = ({ code, message }: ApiError): WriteResult =>
  code === 'NotFound' ? gone : { kind: 'failed', trouble: `conditions could not be written to the garden: ${message}` };

const leftAlone = (manager: string): WriteResult => ({
  kind: 'left-alone',
  trouble: `left alone: ${manager} writes these conditions; --take-over writes them all the same`,
});

/** How care writes to the garden. */
export interface GardenWriter {
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
  /** Others must not have written conditions of ours for this long, in milliseconds. */
  readonly patienceMs: number;
  /** Time after which a conflict is not retried but left to the next check, in monotonic milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

export interface Written {
  readonly writing: WriteResult;
  readonly conditions: readonly Condition[];
}

const timeoutMs = 10_000;
/**
 * Timeout of a read from sending to the response, in milliseconds: every check starts with a read, and a garden that is silent, or that throttles us, must not
 * delay the checks for long.
 */
const readTimeoutMs = 5_000;

/** Reads a Shoot. Rejects only with `signal.reason`, or for a bug. */
export const readShoot = (
  { client }: GardenWriter,
  at: NamespacedName,
  { signal, longestMs }: { readonly signal: AbortSignal; readonly longestMs: number },
): Promise<Result<GardenShoot, ApiError>> => {
  const limits = { timeoutMs: Math.min(timeoutMs, longestMs), sentTimeoutMs: readTimeoutMs };
  const read = client.call(getShoot(at), { ...limits, signal, noRetry: true }).then(({ value }) => value);
  return resultOf(read, signal);
};

/**
 * Writes conditions and labels that differ, and retries after a conflict with the Shoot read again. Rejects only with `signal.reason`, or for a bug.
 */
export const writeShoot = async (writer: GardenWriter, request: WriteRequest): Promise<Written> => {
  const { clock, client } = writer;
  const { stored, conditionsOf, deadline, patienceMs, signal } = request;
  let conditions: Written['conditions'] = [];
  const write = retryOnConflict<GardenShoot, WriteResult>(stored, {
    attempt: (latest) => {
      conditions = conditionsOf(latest.shoot);
      return writeOnce(writer, latest, { conditions, patienceMs, signal });
    },
    reread: async ({ shoot, metadata: { uid } }) => {
      const { value } = await client.call(getShoot(shoot), { signal, timeoutMs });
      return value.metadata.uid === uid ? value : undefined;
    },
    mayRetry: () => clock.monotonic() < deadline,
  });
  const written = await resultOf(write, signal);
  return { writing: written.ok ? (written.value ?? gone) : failureOf(written.error), conditions };
};

/** Sends at most one patch of the conditions and one of the labels. */
const writeOnce = async (
  { clock, client, takeOver, dryRun }: GardenWriter,
  { shoot, storedConditions, metadata, resourceVersion: read }: GardenShoot,
  { conditions, patienceMs, signal }: Pick<Written, 'conditions'> & Pick<WriteRequest, 'patienceMs' | 'signal'>,
): Promise<WriteResult> => {
  const merged = mergeConditions(shoot.conditions, conditions, shootConditionTypes);
  const labels = shootLabelChange(shoot.labels, shootStatus(merged, shoot));
  const isSame = isDeepStrictEqual(merged, shoot.conditions);
  const hasLabels = Object.keys(labels).length > 0;
  if (isSame && !hasLabels) return { kind: 'unchanged' };
  const since = clock.now() - patienceMs;
  const writer = otherConditionWriter(metadata, { own: fieldManager, since, conditions: shoot.conditions });
  if (writer !== undefined && !takeOver) return leftAlone(writer);
  if (dryRun) return { kind: 'dry-run' };
  // A write that was sent is awaited even if the process stops meanwhile.
  const options: CallOptions = { signal, timeoutMs, sentTimeoutMs: timeoutMs };
  const path = shootPath(shoot);
  let resourceVersion = read;
  if (!isSame) {
    const status = { conditions: mergeConditions(storedConditions, conditions, shootConditionTypes) };
    const patched = await client.call(patchShoot(`${path}/status`, { metadata: { resourceVersion }, status }), options);
    ({ resourceVersion } = patched.value);
  }
  const kind = isSame ? 'unchanged' : 'written';
  if (!hasLabels) return { kind };
  const label = client.call(patchShoot(path, { metadata: { resourceVersion, labels } }), options);
  const labelled = await resultOf(label, signal);
  if (labelled.ok) return { kind: 'written' };
  // The conditions may have to change, too.
  if (labelled.error.code === 'Conflict') throw labelled.error;
  return { kind, trouble: `the label could not be written to the garden: ${labelled.error.message}` };
};
