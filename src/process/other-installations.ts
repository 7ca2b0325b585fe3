import { ApiError } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { type ElectionLease, decodeElectionLease } from '../kubernetes/api/lease.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Runnable } from './lifecycle.ts';

export interface OtherInstallationsOptions {
  /** Must not require leadership. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Name of the Lease of the leader election, which every installation uses, the Go program's too. */
  readonly leaseName: string;
  /** Namespace of this installation. */
  readonly ownNamespace: string;
}

/** Time between two searches. */
const searchMs = 300_000;
const timeoutMs = 10_000;
/** client-go's default lease duration, for a Lease without one. */
const usualDurationSeconds = 15;

/**
 * True if the Lease of a leader election has a holder that has renewed it within its duration. Everything is the API server's clock, `now` in milliseconds since
 * the epoch: the stamp of the renewal, which every seed's server (Kubernetes 1.30 or later) sets. `renewTime` is the clock of the holder's node.
 */
export const isLed = (lease: ElectionLease, now: number): boolean => {
  const { holder, renewTime = 0, stampedAt = renewTime, durationSeconds = usualDurationSeconds } = lease;
  return holder !== '' && now < stampedAt / 1_000 + durationSeconds * 1_000;
};

/**
 * Searches the cluster for installations in other namespaces that have a leader: with another configuration they may restore what this one holds. Without the
 * right to list these Leases, none is found. Never fails.
 */
export class OtherInstallations implements Runnable {
  readonly name = 'search for other installations';
  readonly #options: OtherInstallationsOptions;
  #found: readonly string[] = [];

  constructor(options: OtherInstallationsOptions) {
    this.#options = options;
  }

  /** The other installations, as of the last search: `NAMESPACE (HOLDER)`. */
  found(): readonly string[] {
    return this.#found;
  }

  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    const { clock, logger } = this.#options;
    ready();
    while (!signal.aborted) {
      try {
        this.#report(await this.#search(signal));
      } catch (error) {
        if (error !== signal.reason && !(error instanceof ApiError)) throw error;
        logger.debug('other installations could not be searched for', { error });
      }
      await clock.sleep(searchMs, signal).catch(() => undefined);
    }
  }

  async #search(signal: AbortSignal): Promise<readonly ElectionLease[]> {
    const leaders = await this.#leaders(signal);
    const isKnown = leaders.every(({ namespace }) => this.#found.some((one) => one.startsWith(`${namespace} `)));
    if (isKnown) return leaders;
    // One that has just been killed seems to lead until its Lease has run out.
    const seconds = Math.max(...leaders.map(({ durationSeconds = usualDurationSeconds }) => durationSeconds));
    await this.#options.clock.sleep(seconds * 1_000, signal);
    return this.#leaders(signal);
  }

  async #leaders(signal: AbortSignal): Promise<readonly ElectionLease[]> {
    const { client, clock, leaseName, ownNamespace } = this.#options;
    const path = '/apis/coordination.k8s.io/v1/leases';
    const query = { fieldSelector: `metadata.name=${leaseName}` };
    const call = listCall({ path, query, decode: decodeElectionLease });
    const { value, date = clock.now() } = await client.call(call, { signal, timeoutMs });
    return value.filter((lease) => lease.namespace !== ownNamespace && isLed(lease, date));
  }

  #report(leaders: readonly ElectionLease[]): void {
    const { logger } = this.#options;
    const found = leaders.map(({ namespace, holder }) => `${namespace} (${holder})`);
    const isNew = ({ namespace }: ElectionLease): boolean =>
      !this.#found.some((one) => one.startsWith(`${namespace} `));
    for (const { namespace, holder } of leaders.filter(isNew)) {
      logger.error('another installation is active in this cluster: each may restore what the other holds', {
        otherNamespace: namespace,
        holder,
      });
    }
    if (leaders.length === 0 && this.#found.length > 0) logger.info('no other installation is active any more');
    this.#found = found;
  }
}
