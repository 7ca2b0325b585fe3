import type { Informer, Store, StoreChange } from '../../kubernetes/cache/index.ts';
import type { Clock } from '../../ports/clock.ts';
import { whenAborted } from '../../process/index.ts';
import type { HostedCluster, Kubeconfigs, NamespaceView } from './cluster-source.ts';
import {
  type ChosenSecret,
  type LabelledSecret,
  type SecretCluster,
  chooseSecret,
  decideSecretLifecycle,
  describeOthers,
} from './lifecycle.ts';

/** The cached part of a Secret with a kubeconfig. */
export interface ClusterSecret extends LabelledSecret {
  readonly namespace: string;
}

export interface SecretClustersDeps {
  /** All Secrets of the configured name or labels. */
  readonly secrets: Informer<ClusterSecret>;
  /** The Namespaces of the seed, which somebody else watches. */
  readonly namespaces: Informer<NamespaceView>;
  /** Name by which `kubeconfigs` finds the Secret of each cluster. */
  readonly secretName: string;
  /** As in SecretCluster. */
  readonly holdsElsewhere: boolean;
  readonly clock: Pick<Clock, 'monotonic' | 'timer'>;
}

/** Wait for a deleted Secret, in milliseconds: it may be about to be replaced, and nothing must be restored in an outage because of that. */
const missingMs = 60_000;
/** A timer that fires this late, in milliseconds, shows that the process was suspended. */
const suspendedMs = 5_000;

type Listener = Parameters<Store<HostedCluster>['subscribe']>[0];

/**
 * Informer of the clusters that are found by their Secret, by namespace. Combines the watches of Secrets and Namespaces with the Secrets that were just
 * deleted.
 */
export class SecretClusters implements Informer<HostedCluster> {
  readonly name: string;
  readonly kubeconfigs: Kubeconfigs;
  readonly #deps: SecretClustersDeps;
  readonly #listeners = new Set<Listener>();
  /** Secrets by namespace, then by name. */
  readonly #secrets = new Map<string, Map<string, ClusterSecret>>();
  /** Functions that end the wait for a Secret that was just deleted, by namespace. */
  readonly #missing = new Map<string, () => void>();

  constructor(deps: SecretClustersDeps) {
    this.#deps = deps;
    const { secrets, namespaces, secretName } = deps;
    this.name = `${secrets.name}; ${namespaces.name}`;
    secrets.subscribe((change) => this.#secretChanged(change));
    const suffix = `/${secretName}`;
    this.kubeconfigs = {
      name: secrets.name,
      // The clusters run this watch.
      run: whenAborted,
      state: () => secrets.state(),
      whenSynced: (signal) => secrets.whenSynced(signal),
      get synced() {
        return secrets.synced;
      },
      subscribe: (listener) => secrets.subscribe(({ type, key, value }) => listener({ type, key, value: value.text })),
      get: (key) => (key.endsWith(suffix) ? this.#chosenIn(key.slice(0, -suffix.length))?.secret.text : undefined),
    };
  }

  get synced(): boolean {
    return this.#deps.secrets.synced && this.#deps.namespaces.synced;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { secrets, namespaces } = this.#deps;
    const unsubscribe = namespaces.subscribe((change) => this.#namespaceChanged(change));
    await secrets.run(signal);
    unsubscribe();
    for (const stopWaiting of this.#missing.values()) stopWaiting();
  }

  state(): ReturnType<Informer<HostedCluster>['state']> {
    const [secrets, namespaces] = [this.#deps.secrets.state(), this.#deps.namespaces.state()];
    return secrets.problem === undefined && secrets.synced ? namespaces : secrets;
  }

  interruptedMs(): number {
    return Math.max(this.#deps.secrets.interruptedMs(), this.#deps.namespaces.interruptedMs());
  }

  get(cluster: string): HostedCluster | undefined {
    const state = this.#stateOf(cluster);
    if (state.secret === 'gone' && !state.namespaceDeleting) return undefined;
    const chosen = this.#chosenIn(cluster);
    const problem = chosen && describeOthers(chosen.secret.name, chosen.others);
    return { name: cluster, lifecycle: { ok: true, value: decideSecretLifecycle(state) }, problem };
  }

  *entries(): Iterable<readonly [string, HostedCluster]> {
    for (const name of new Set([...this.#secrets.keys(), ...this.#missing.keys()])) {
      const cluster = this.get(name);
      if (cluster !== undefined) yield [name, cluster];
    }
  }

  /** Treats a cluster that does not exist as if its Secret was deleted at `since`, because an earlier process may have seen it just before. */
  awaitSince(cluster: string, since: number): void {
    const leftMs = since + missingMs - this.#deps.clock.monotonic();
    if (leftMs > 0 && this.get(cluster) === undefined) this.#waitFor(cluster, leftMs);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#deps.secrets.whenSynced(signal), this.#deps.namespaces.whenSynced(signal)]);
  }

  #chosenIn(namespace: string): ChosenSecret<ClusterSecret> | undefined {
    return chooseSecret(this.#secrets.get(namespace)?.values() ?? []);
  }

  #stateOf(namespace: string): SecretCluster {
    const { namespaces, holdsElsewhere } = this.#deps;
    const isThere = this.#chosenIn(namespace)?.secret.deleting === false;
    return {
      secret: isThere ? 'there' : this.#missing.has(namespace) ? 'missing' : 'gone',
      namespaceDeleting: namespaces.get(namespace)?.deleting ?? false,
      holdsElsewhere,
    };
  }

  #secretChanged({ type, value }: StoreChange<ClusterSecret>): void {
    const { namespace, name } = value;
    const wasThere = this.#chosenIn(namespace)?.secret.deleting !== true;
    const own = this.#secrets.get(namespace) ?? new Map<string, ClusterSecret>();
    if (type === 'set') this.#secrets.set(namespace, own.set(name, value));
    else own.delete(name);
    if (own.size === 0) this.#secrets.delete(namespace);
    if (this.#chosenIn(namespace)?.secret.deleting === false) this.#stopWaiting(namespace);
    else if (wasThere) this.#waitFor(namespace);
    this.#notify(namespace);
  }

  #namespaceChanged({ type, key, value, previous }: StoreChange<NamespaceView>): void {
    const [before, now] = type === 'set' ? [previous?.deleting ?? false, value.deleting] : [value.deleting, false];
    if (before !== now) this.#notify(key);
  }

  #waitFor(namespace: string, ms = missingMs): void {
    this.#stopWaiting(namespace);
    const { clock, secrets } = this.#deps;
    const due = clock.monotonic() + ms;
    const cancel = clock.timer(ms, () => {
      // The Secret may exist again without our having seen it, so nothing is restored yet.
      const isBlind = clock.monotonic() - due >= suspendedMs || secrets.interruptedMs() > 0;
      if (isBlind) {
        this.#waitFor(namespace);
      } else {
        this.#missing.delete(namespace);
        this.#notify(namespace);
      }
    });
    this.#missing.set(namespace, cancel);
  }

  #stopWaiting(namespace: string): void {
    this.#missing.get(namespace)?.();
    this.#missing.delete(namespace);
  }

  #notify(namespace: string): void {
    const state = this.#stateOf(namespace);
    const value = { name: namespace, lifecycle: { ok: true, value: decideSecretLifecycle(state) } } as const;
    const type = this.get(namespace) === undefined ? 'deleted' : 'set';
    for (const listener of [...this.#listeners]) listener({ type, key: namespace, value });
  }
}
