import { heartbeatLeaseName } from '../gardener/extensions.ts';
import type { Call } from '../kubernetes/api/call.ts';
import type { JsonObject } from '../kubernetes/api/decode.ts';
import { ApiError, unlessNotFound } from '../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import { formatMicroTime } from '../kubernetes/api/micro-time.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';

/** Options of `renewHeartbeat`. */
export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly seed: KubeClient;
  /** Namespace of the extension: gardenlet reads the Lease in `extension-<name of the ControllerInstallation>`. */
  readonly namespace: string;
  /** Name of the extension, written as the holder of the Lease. */
  readonly extensionName: string;
  /** Interval between renewals in milliseconds. Default 30 s, as in gardener's extensions. gardenlet treats an extension as dead after 5 min. */
  readonly renewIntervalMs?: number;
  /** Called after each attempt, with the error if it failed. */
  readonly onAttempt?: (error: ApiError | undefined) => void;
}

const defaultIntervalMs = 30_000;
/** Wait after a failed renewal, in milliseconds; the interval, if that is shorter. */
const retryMs = 5_000;

const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases' };

/** Returns the `spec` of the Lease, like gardener's `extensions/pkg/controller/heartbeat`. */
const specOf = ({ extensionName, renewIntervalMs = defaultIntervalMs }: HeartbeatOptions, now: number): JsonObject => {
  const seconds = Math.floor(now / 1_000);
  const renewTime = formatMicroTime(seconds, Math.floor(now - seconds * 1_000) * 1_000_000);
  return {
    holderIdentity: extensionName,
    leaseDurationSeconds: Math.ceil(renewIntervalMs / 1_000),
    renewTime,
  };
};

const renewal = (namespace: string, spec: JsonObject): Call<undefined> => ({
  method: 'PATCH',
  path: resourcePath({ ...leases, namespace, name: heartbeatLeaseName }),
  contentType: 'application/merge-patch+json',
  repeatable: true,
  body: { spec },
  decode: () => undefined,
});

const creation = (namespace: string, spec: JsonObject): Call<undefined> => ({
  method: 'POST',
  path: resourcePath({ ...leases, namespace }),
  body: {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: heartbeatLeaseName, namespace },
    spec,
  },
  decode: () => undefined,
});

/** Renews the Lease once, and creates it if there is none. Resolves with the error if that fails. */
const attempt = async (
  options: HeartbeatOptions,
  call: Required<Pick<CallOptions, 'signal' | 'timeoutMs'>>,
): Promise<ApiError | undefined> => {
  const { seed, namespace, clock } = options;
  const spec = specOf(options, clock.now());
  try {
    const renewed = await unlessNotFound(seed.call(renewal(namespace, spec), call));
    if (renewed === undefined) await seed.call(creation(namespace, spec), call);
    return undefined;
  } catch (error) {
    if (call.signal.aborted) return undefined;
    if (error instanceof ApiError) return error;
    throw error;
  }
};

const checkOptions = ({ namespace, extensionName, renewIntervalMs = defaultIntervalMs }: HeartbeatOptions): void => {
  const problem = (text: string): RangeError => new RangeError(`heartbeat: ${text}`);
  if (namespace === '') throw problem('namespace must not be empty');
  if (extensionName === '') throw problem('extensionName must not be empty');
  if (!(renewIntervalMs > 0)) throw problem(`renewIntervalMs must be greater than 0, is ${renewIntervalMs}`);
};

/**
 * Renews the Lease `gardener-extension-heartbeat`, which shows gardenlet that the extension is alive; without it, all reports of the extension count as
 * outdated. Runs until `signal` aborts. Failures are retried and logged, a lasting one only once. Rejects only with a RangeError for invalid options. Needs the
 * rights to patch that Lease and to create Leases in `namespace`.
 */
export const renewHeartbeat = async (options: HeartbeatOptions, signal: AbortSignal): Promise<void> => {
  checkOptions(options);
  const { clock, logger, namespace, renewIntervalMs = defaultIntervalMs, onAttempt } = options;
  /** Text of the failure that was logged; undefined while renewals succeed. */
  let logged: string | undefined;
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    const startedAt = clock.monotonic();
    const error = await attempt(options, { signal, timeoutMs: renewIntervalMs });
    if (isOver()) return;
    onAttempt?.(error);
    if (error === undefined && logged !== undefined) logger.info('the heartbeat is renewed again', { namespace });
    if (error !== undefined && error.message !== logged) {
      logger.warn('the heartbeat could not be renewed', { namespace, error });
    }
    logged = error?.message;
    const waitMs = error === undefined ? renewIntervalMs : Math.min(retryMs, renewIntervalMs);
    await clock.sleep(startedAt + waitMs - clock.monotonic(), signal).catch(() => undefined);
  }
};
