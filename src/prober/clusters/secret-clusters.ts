import { type Informer, type Store, type StoreChange } from '../../kubernetes/cache/index.ts';
import type { Clock } from '../../ports/clock.ts';
import { describeOthers, type SecretCluster, decideSecretLifecycle } from './lifecycle.ts';
import type { HostedCluster } from './cluster-source.ts';

/** The cached part of a Secret with a kubeconfig. */
export interface SecretView {
  /** Text of the kubeconfig; undefined if the Secret has no such key. */
  readonly text: string | undefined;
  readonly deleting: boolean;
  /** Names of the chosen Secret and of the others, if several match in the namespace. */
  readonly chosen?: { readonly name: string; readonly others: readonly string[] };
}

export interface NamespaceView {
  readonly deleting: boolean;
}

export interface SecretClustersDeps {
  readonly secrets: Informer<SecretView>;
  readonly namespaces: Informer<NamespaceView>;
  /** Name of the Secrets in `secrets`. */
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

const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));

/**
 * Informer of the clusters that are found by their Secret, by namespace. Combines the watches of Secrets and Namespaces with the Secrets that were just
 * deleted.
 */
export class SecretClusters implements Informer<HostedCluster> {
  readonly name: string;
  readonly #deps: SecretClustersDeps;
  readonly #listeners = new Set<Listener>();
  /** Functions that end the wait for a Secret that was just deleted, by namespace. */
  readonly #missing = new Map<string, () => void>();

  constructor(deps: SecretClustersDeps) {
    this.#deps = deps;
    this.name = `${deps.secrets.name}; ${deps.namespaces.name}`;
  }

  get synced(): boolean {
    return this.#deps.secrets.synced && this.#deps.namespaces.synced;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { secrets, namespaces } = this.#deps;
    const ignoreSecrets = secrets.subscribe((change) => this.#secretChanged(change));
    const ignoreNamespaces = namespaces.subscribe((change) => this.#namespaceChanged(change));
    await Promise.all([secrets.run(signal), namespaces.run(signal)]);
    ignoreSecrets();
    ignoreNamespaces();
    for (const stopWaiting of this.#missing.values()) stopWaiting();
  }

  state(): ReturnType<Informer<HostedCluster>['state']> {
    const [secrets, namespaces] = [this.#deps.secrets.state(), this.#deps.namespaces.state()];
    return secrets.problem === undefined && secrets.synced ? namespaces : secrets;
  }

  interruptedMs(): number {
    return Math.max(this.#deps.secrets.interruptedMs(), this.#deps.namespaces.interruptedMs());
  }

  get(namespace: string): HostedCluster | undefined {
    const state = this.#stateOf(namespace);
    if (state.secret === 'gone' && !state.namespaceDeleting) return undefined;
    const { name, others } = this.#secretOf(namespace)?.chosen ?? { name: '', others: [] };
    const problem = describeOthers(name, others);
    const lifecycle = { ok: true, value: decideSecretLifecycle(state) } as const;
    return { name: namespace, lifecycle, ...(problem === undefined ? {} : { problem }) };
  }

  *entries(): Iterable<readonly [string, HostedCluster]> {
    const known = Array.from(this.#deps.secrets.entries(), ([key]) => namespaceOf(key));
    for (const namespace of new Set([...known, ...this.#missing.keys()])) {
      const cluster = this.get(namespace);
      if (cluster !== undefined) yield [namespace, cluster];
    }
  }

  /** Treats a cluster that does not exist as if its Secret was deleted at `since`, because an earlier process may have seen it just before. */
  awaitSince(namespace: string, since: number): void {
    const leftMs = since + missingMs - this.#deps.clock.monotonic();
    if (leftMs > 0 && this.get(namespace) === undefined) this.#waitFor(namespace, leftMs);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#deps.secrets.whenSynced(signal), this.#deps.namespaces.whenSynced(signal)]);
  }

  #secretOf(namespace: string): SecretView | undefined {
    return this.#deps.secrets.get(`${namespace}/${this.#deps.secretName}`);
  }

  #stateOf(namespace: string): SecretCluster {
    const { namespaces, holdsElsewhere } = this.#deps;
    const secret = this.#secretOf(namespace);
    const isThere = secret !== undefined && !secret.deleting;
    return {
      secret: isThere ? 'there' : this.#missing.has(namespace) ? 'missing' : 'gone',
      namespaceDeleting: namespaces.get(namespace)?.deleting ?? false,
      holdsElsewhere,
    };
  }

  #secretChanged({ type, key, value, previous }: StoreChange<SecretView>): void {
    const namespace = namespaceOf(key);
    const isThere = type === 'set' && !value.deleting;
    const wasThere = type === 'deleted' ? !value.deleting : previous?.deleting !== true;
    if (isThere) this.#stopWaiting(namespace);
    else if (wasThere) this.#waitFor(namespace);
    this.#notify(namespace);
  }

  #namespaceChanged({ type, key, value, previous }: StoreChange<NamespaceView>): void {
    if (type === 'set' && value.deleting !== (previous?.deleting ?? false)) this.#notify(key);
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
