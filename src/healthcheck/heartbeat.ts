import { heartbeatLeaseName } from '../gardener/extensions.ts';
import type { Call } from '../kubernetes/api/call.ts';
import type { JsonObject } from '../kubernetes/api/decode.ts';
import { ApiError, unlessNotFound } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { formatMicroTime } from '../kubernetes/api/micro-time.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { ReadyCheck } from '../process/index.ts';
import type { HealthCheckMetrics } from './report.ts';

export interface HeartbeatOptions {
  /** Namespace of the extension: gardenlet reads the Lease in `extension-<name of the ControllerInstallation>`. */
  readonly namespace: string;
  /** Name of the extension, written as the holder of the Lease. */
  readonly extensionName: string;
  /** Interval between renewals in milliseconds. gardenlet treats an extension as dead after 5 min. */
  readonly renewIntervalMs: number;
}

export interface HeartbeatDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly seed: KubeClient;
  readonly metrics: Pick<HealthCheckMetrics, 'heartbeats'>;
}

/** Wait after a failed renewal, in milliseconds; the interval, if that is shorter. */
const retryMs = 5_000;

const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases' };

/** Returns the `spec` of the Lease, like gardener's `extensions/pkg/controller/heartbeat`. */
const specOf = ({ extensionName, renewIntervalMs }: HeartbeatOptions, now: number): JsonObject => {
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

/**
 * Renews the Lease `gardener-extension-heartbeat`, which shows gardenlet that the extension is alive; without it, all reports of the extension count as
 * outdated. Failures are retried and logged, a lasting one only once.
 */
export class Heartbeat {
  readonly name = 'heartbeat';
  readonly #options: HeartbeatOptions;
  readonly #deps: HeartbeatDeps;
  /** Why the last renewal failed; undefined after a success. */
  #problem: string | undefined = 'not renewed yet';
  #hasFailed = false;

  constructor(options: HeartbeatOptions, deps: HeartbeatDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  check(): ReadyCheck {
    return { name: this.name, ok: this.#problem === undefined, detail: this.#problem };
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    while (!signal.aborted) {
      const startedAt = clock.monotonic();
      const waitMs = await this.#renew(signal);
      await clock.sleep(startedAt + waitMs - clock.monotonic(), signal).catch(() => undefined);
    }
  }

  /** Renews the Lease once, and creates it if there is none. Resolves with the milliseconds until the next renewal. */
  async #renew(signal: AbortSignal): Promise<number> {
    const { namespace, renewIntervalMs } = this.#options;
    const { seed, clock } = this.#deps;
    const spec = specOf(this.#options, clock.now());
    const options = { signal, timeoutMs: renewIntervalMs };
    try {
      const renewed = await unlessNotFound(seed.call(renewal(namespace, spec), options));
      if (renewed === undefined) await seed.call(creation(namespace, spec), options);
      this.#renewed();
      return renewIntervalMs;
    } catch (error) {
      if (signal.aborted) return 0;
      if (!(error instanceof ApiError)) throw error;
      this.#failed(error);
      return Math.min(retryMs, renewIntervalMs);
    }
  }

  #renewed(): void {
    const { logger, metrics } = this.#deps;
    metrics.heartbeats.inc({ outcome: 'renewed' });
    if (this.#hasFailed) logger.info('the heartbeat is renewed again', { namespace: this.#options.namespace });
    this.#hasFailed = false;
    this.#problem = undefined;
  }

  #failed(error: ApiError): void {
    const { logger, metrics } = this.#deps;
    metrics.heartbeats.inc({ outcome: 'failed' });
    if (error.message !== this.#problem) {
      logger.warn('the heartbeat could not be renewed', { namespace: this.#options.namespace, error });
    }
    this.#hasFailed = true;
    this.#problem = error.message;
  }
}
