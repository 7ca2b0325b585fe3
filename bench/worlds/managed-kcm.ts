import type { Clock } from '../../src/ports/clock.ts';
import type { ControlPlane } from '../../test/envtest/control-plane.ts';
import { startControllerManager } from '../../test/envtest/controller-manager.ts';

export interface ManagedKcmOptions {
  readonly shoot: ControlPlane;
  readonly graceMs: number;
  readonly monitorPeriodMs: number;
  readonly clock: Clock;
  /** Latest observed `spec.replicas` of its Deployment; undefined before the first observation. */
  readonly replicas: () => number | undefined;
}

const observeEveryMs = 10;

/** A real KCM whose process runs while its Deployment in the seed has replicas. Times are milliseconds since the epoch. */
export class ManagedKcm {
  readonly #options: ManagedKcmOptions;
  readonly #stop = new AbortController();
  #process: Awaited<ReturnType<typeof startControllerManager>> | undefined;
  #following: Promise<void> = Promise.resolve();
  #firstStoppedAt: number | undefined;
  #lastStartedAt: number | undefined;

  constructor(options: ManagedKcmOptions) {
    this.#options = options;
  }

  /** Time at which its process had first ended because the Deployment had no replicas. */
  firstStoppedAt(): number | undefined {
    return this.#firstStoppedAt;
  }

  /** Time at which it was healthy after its last start. */
  lastStartedAt(): number | undefined {
    return this.#lastStartedAt;
  }

  async start(): Promise<void> {
    const { shoot, graceMs, monitorPeriodMs, clock } = this.#options;
    this.#process = await startControllerManager(shoot, {
      nodeMonitorGracePeriodSeconds: graceMs / 1_000,
      nodeMonitorPeriodSeconds: monitorPeriodMs / 1_000,
    });
    this.#lastStartedAt = clock.now();
  }

  /** Starts to follow the Deployment: kills the process at 0 replicas, starts it at more. */
  follow(): void {
    this.#following = this.#follow();
    // `end` awaits the promise and reports its error.
    this.#following.catch(() => undefined);
  }

  /** Stops the process. Rejects if following the Deployment failed. */
  async end(): Promise<void> {
    this.#stop.abort();
    try {
      await this.#following;
    } finally {
      await this.#process?.stop({ signal: 'SIGKILL' });
    }
  }

  async #follow(): Promise<void> {
    const { clock, replicas } = this.#options;
    while (!this.#stop.signal.aborted) {
      const wanted = replicas();
      if (wanted === 0 && this.#process !== undefined) {
        await this.#process.stop({ signal: 'SIGKILL' });
        this.#process = undefined;
        this.#firstStoppedAt ??= clock.now();
      }
      if (wanted !== undefined && wanted > 0 && this.#process === undefined) await this.start();
      await clock.sleep(observeEveryMs, this.#stop.signal).catch(() => undefined);
    }
  }
}
