import { ApiError, type Call, formatMicroTime, heartbeatLeaseName, type JsonObject } from '../domain/index.ts';
import type { CallOptions, Clock, KubeClient, Logger } from '../ports/index.ts';

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly seed: KubeClient;
  /** That the extension runs in: gardenlet looks for the Lease in `extension-<name of the ControllerInstallation>`. */
  readonly namespace: string;
  /** Name of the extension, written as the holder. */
  readonly extensionName: string;
  /** Milliseconds. Default 30 s, as of gardener's extensions. gardenlet takes an extension for dead after 5 min. */
  readonly renewIntervalMs?: number;
  /** Hears how each attempt ended. */
  readonly onAttempt?: (error: ApiError | undefined) => void;
}

const defaultIntervalMs = 30_000;
/** A renewal that failed is tried again this soon, or after a whole interval where that is shorter. */
const retryMs = 5_000;

const leasesPath = (namespace: string): string =>
  `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;

/** As gardener's `extensions/pkg/controller/heartbeat`. */
const specOf = ({ extensionName, renewIntervalMs = defaultIntervalMs }: HeartbeatOptions, now: number): JsonObject => {
  const seconds = Math.floor(now / 1_000);
  const renewTime = formatMicroTime(seconds, Math.floor(now - seconds * 1_000) * 1_000_000);
  return {
    holderIdentity: extensionName,
    leaseDurationSeconds: Math.ceil(renewIntervalMs / 1_000),
    ...(renewTime === undefined ? {} : { renewTime }),
  };
};

const renewal = (namespace: string, spec: JsonObject): Call<undefined> => ({
  method: 'PATCH',
  path: `${leasesPath(namespace)}/${heartbeatLeaseName}`,
  contentType: 'application/merge-patch+json',
  repeatable: true,
  body: { spec },
  decode: () => undefined,
});

const creation = (namespace: string, spec: JsonObject): Call<undefined> => ({
  method: 'POST',
  path: leasesPath(namespace),
  body: {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: heartbeatLeaseName, namespace },
    spec,
  },
  decode: () => undefined,
});

const isCode = (error: unknown, code: ApiError['code']): boolean => error instanceof ApiError && error.code === code;

/** One renewal; the Lease is created where there is none. Rejects with an ApiError. */
const renew = async (options: HeartbeatOptions, call: CallOptions): Promise<void> => {
  const { seed, namespace, clock } = options;
  const spec = specOf(options, clock.now());
  try {
    await seed.call(renewal(namespace, spec), call);
  } catch (error) {
    if (!isCode(error, 'NotFound')) throw error;
    await seed.call(creation(namespace, spec), call).catch(async (refused: unknown) => {
      // Another replica was faster.
      if (!isCode(refused, 'AlreadyExists')) throw refused;
      await seed.call(renewal(namespace, spec), call);
    });
  }
};

const checkOptions = ({ namespace, extensionName, renewIntervalMs = defaultIntervalMs }: HeartbeatOptions): void => {
  const problem = (text: string): RangeError => new RangeError(`heartbeat: ${text}`);
  if (namespace === '') throw problem('namespace must not be empty');
  if (extensionName === '') throw problem('extensionName must not be empty');
  if (!(renewIntervalMs > 0)) throw problem(`renewIntervalMs must be greater than 0, is ${renewIntervalMs}`);
};

/**
 * Renews the Lease `gardener-extension-heartbeat`, by which gardenlet knows that the extension is alive: without it all that the extension
 * reports is outdated. Works until `signal` aborts; failures are logged, a lasting one once, and tried again. Rejects only with a RangeError
 * for options that make no sense. Takes the rights to patch that Lease and to create Leases in `namespace`.
 */
export const renewHeartbeat = async (options: HeartbeatOptions, signal: AbortSignal): Promise<void> => {
  checkOptions(options);
  const { clock, logger, namespace, renewIntervalMs = defaultIntervalMs, onAttempt } = options;
  let complaint: string | undefined;

  const attempt = async (): Promise<boolean> => {
    try {
      await renew(options, { signal, timeoutMs: renewIntervalMs });
      onAttempt?.(undefined);
      if (complaint !== undefined) logger.info('the heartbeat is renewed again', { namespace });
      complaint = undefined;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (!(error instanceof ApiError)) throw error;
      onAttempt?.(error);
      if (complaint !== error.message) logger.warn('the heartbeat could not be renewed', { namespace, error });
      complaint = error.message;
      return false;
    }
  };

  while (!signal.aborted) {
    const startedAt = clock.monotonic();
    const waitMs = (await attempt()) ? renewIntervalMs : Math.min(retryMs, renewIntervalMs);
    await clock.sleep(startedAt + waitMs - clock.monotonic(), signal).catch(() => undefined);
  }
};
