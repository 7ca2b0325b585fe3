import type { ControlPlane } from '../../test/envtest/control-plane.ts';
import { startControllerManager } from '../../test/envtest/controller-manager.ts';
import { type Polling, pollEvery } from '../../test/envtest/waiting.ts';

const obeyEveryMs = 100;

export interface ManagedKcmOptions {
  readonly shoot: ControlPlane;
  readonly graceMs: number;
  readonly monitorPeriodMs: number;
  /** Reads `spec.replicas` of its Deployment. */
  readonly replicas: () => Promise<number>;
}

/** A real KCM whose process runs while its Deployment in the seed has replicas. Times are milliseconds since the epoch. */
export class ManagedKcm {
  readonly #options: ManagedKcmOptions;
  #process: Awaited<ReturnType<typeof startControllerManager>> | undefined;
  #following: Polling | undefined;
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
    const { shoot, graceMs, monitorPeriodMs } = this.#options;
    this.#process = await startControllerManager(shoot, {
      nodeMonitorGracePeriodSeconds: graceMs / 1_000,
      nodeMonitorPeriodSeconds: monitorPeriodMs / 1_000,
    });
    this.#lastStartedAt = Date.now();
  }

  /** Starts to follow the Deployment: kills the process at 0 replicas, starts it at more. */
  follow(): void {
    this.#following = pollEvery(obeyEveryMs, () => this.#obey());
  }

  /** Stops the process. Rejects if following the Deployment failed. */
  async end(): Promise<void> {
    try {
      await this.#following?.stop();
    } finally {
      await this.#process?.stop({ signal: 'SIGKILL' });
    }
  }

  async #obey(): Promise<void> {
    const wanted = await this.#options.replicas();
    if (wanted === 0 && this.#process !== undefined) {
      await this.#process.stop({ signal: 'SIGKILL' });
      this.#process = undefined;
      this.#firstStoppedAt ??= Date.now();
    }
    if (wanted > 0 && this.#process === undefined) await this.start();
  }
}
