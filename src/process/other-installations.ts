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
 * Searches the cluster for installations in other namespaces whose leader renews its Lease: with another configuration they may restore what this one holds.
 * Clocks need not agree: a Lease counts if it changes within its duration. Without the right to list these Leases, none is found. Never fails.
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
    const before = await this.#list(signal);
    if (before.length === 0) return [];
    const seconds = Math.max(...before.map(({ durationSeconds = usualDurationSeconds }) => durationSeconds));
    await this.#options.clock.sleep(seconds * 1_000, signal);
    const former = new Map(before.map((lease) => [lease.namespace, lease.renewTime]));
    return (await this.#list(signal)).filter(
      ({ namespace, renewTime }) => former.has(namespace) && former.get(namespace) !== renewTime,
    );
  }

  async #list(signal: AbortSignal): Promise<readonly ElectionLease[]> {
    const { client, leaseName, ownNamespace } = this.#options;
    const path = '/apis/coordination.k8s.io/v1/leases';
    const query = { fieldSelector: `metadata.name=${leaseName}` };
    const { value } = await client.call(listCall({ path, query, decode: decodeElectionLease }), { signal, timeoutMs });
    return value.filter(({ namespace, holder }) => namespace !== ownNamespace && holder !== '');
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
