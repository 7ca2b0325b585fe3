import { heartbeatLeaseName } from '../gardener/extensions.ts';
import type { Call } from '../kubernetes/api/call.ts';
import type { JsonObject } from '../kubernetes/api/decode.ts';
import { ApiError, unlessNotFound } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { ReadyCheck } from '../process/index.ts';
import type { HealthCheckMetrics } from './report.ts';

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly seed: KubeClient;
  readonly metrics: Pick<HealthCheckMetrics, 'heartbeats'>;
  /** Namespace of the extension: gardenlet reads the Lease in `extension-<name of the ControllerInstallation>`. */
  readonly namespace: string;
  /** Name of the extension, written as the holder of the Lease. */
  readonly extensionName: string;
  /** Interval between renewals in milliseconds. gardenlet treats an extension as dead after 5 min. */
  readonly renewIntervalMs: number;
}

/** Wait after a failed renewal, in milliseconds; the interval, if that is shorter. */
const retryMs = 5_000;
const notYet = 'not renewed yet';

const leases = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases' };

/** Returns the `spec` of the Lease, like gardener's `extensions/pkg/controller/heartbeat`. */
const specOf = ({ extensionName, renewIntervalMs }: HeartbeatOptions, now: number): JsonObject => ({
  holderIdentity: extensionName,
  leaseDurationSeconds: Math.ceil(renewIntervalMs / 1_000),
  // A MicroTime has six digits after the point.
  renewTime: new Date(now).toISOString().replace('Z', '000Z'),
});

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
  /** Why the last renewal failed; undefined after a success. */
  #problem: string | undefined = notYet;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  check(): ReadyCheck {
    return { name: this.name, ok: this.#problem === undefined, detail: this.#problem };
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, renewIntervalMs } = this.#options;
    while (!signal.aborted) {
      const startedAt = clock.monotonic();
      await this.#renew(signal);
      const waitMs = this.#problem === undefined ? renewIntervalMs : Math.min(retryMs, renewIntervalMs);
      await clock.sleep(startedAt + waitMs - clock.monotonic(), signal).catch(() => undefined);
    }
  }

  /** Renews the Lease once, and creates it if there is none. */
  async #renew(signal: AbortSignal): Promise<void> {
    const { namespace, renewIntervalMs, seed, clock } = this.#options;
    const spec = specOf(this.#options, clock.now());
    const options = { signal, timeoutMs: renewIntervalMs };
    try {
      const renewed = await unlessNotFound(seed.call(renewal(namespace, spec), options));
      if (renewed === undefined) await seed.call(creation(namespace, spec), options);
      this.#ended(undefined);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      this.#ended(error.message);
    }
  }

  #ended(problem: string | undefined): void {
    const { logger, metrics, namespace } = this.#options;
    const before = this.#problem;
    this.#problem = problem;
    metrics.heartbeats.inc({ outcome: problem === undefined ? 'renewed' : 'failed' });
    if (problem === before || (problem === undefined && before === notYet)) return;
    if (problem === undefined) logger.info('the heartbeat is renewed again', { namespace });
    else logger.warn('the heartbeat could not be renewed', { namespace, error: problem });
  }
}
