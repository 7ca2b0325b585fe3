import type { Informer, Store, StoreChange } from '../../kubernetes/cache/index.ts';
import { type LabelledSecret, chooseSecret } from './lifecycle.ts';
import type { SecretView } from './secret-clusters.ts';

/** The cached part of a Secret that matches the selector. */
export interface LabelledSecretView extends LabelledSecret {
  readonly namespace: string;
  /** Text of the kubeconfig; undefined if the Secret has no such key. */
  readonly text: string | undefined;
}

type Listener = Parameters<Store<SecretView>['subscribe']>[0];

/** Informer of one Secret per namespace, chosen among all that match a selector, under the name that the prober uses for it. */
export class LabelledSecrets implements Informer<SecretView> {
  readonly #secrets: Informer<LabelledSecretView>;
  readonly #knownAs: string;
  readonly #listeners = new Set<Listener>();
  /** Secrets by namespace, then by name. */
  readonly #byNamespace = new Map<string, Map<string, LabelledSecretView>>();

  /** `knownAs` replaces the names of the Secrets. */
  constructor(secrets: Informer<LabelledSecretView>, knownAs: string) {
    this.#secrets = secrets;
    this.#knownAs = knownAs;
    secrets.subscribe((change) => this.#changed(change));
  }

  get name(): string {
    return this.#secrets.name;
  }

  get synced(): boolean {
    return this.#secrets.synced;
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#secrets.run(signal);
  }

  state(): ReturnType<Informer<SecretView>['state']> {
    return this.#secrets.state();
  }

  interruptedMs(): number {
    return this.#secrets.interruptedMs();
  }

  get(key: string): SecretView | undefined {
    const namespace = key.slice(0, -this.#knownAs.length - 1);
    return key === this.#keyOf(namespace) ? this.#chosenIn(namespace) : undefined;
  }

  *entries(): Iterable<readonly [string, SecretView]> {
    for (const namespace of this.#byNamespace.keys()) {
      const chosen = this.#chosenIn(namespace);
      if (chosen !== undefined) yield [this.#keyOf(namespace), chosen];
    }
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return this.#secrets.whenSynced(signal);
  }

  #keyOf(namespace: string): string {
    return `${namespace}/${this.#knownAs}`;
  }

  #chosenIn(namespace: string): SecretView | undefined {
    const chosen = chooseSecret(this.#byNamespace.get(namespace)?.values() ?? []);
    if (chosen === undefined) return undefined;
    const { secret, others } = chosen;
    const { name, text, deleting } = secret;
    return { text, deleting, ...(others.length === 0 ? {} : { chosen: { name, others } }) };
  }

  #changed({ type, value }: StoreChange<LabelledSecretView>): void {
    const { namespace, name } = value;
    const previous = this.#chosenIn(namespace);
    const own = this.#byNamespace.get(namespace) ?? new Map<string, LabelledSecretView>();
    if (type === 'set') this.#byNamespace.set(namespace, own.set(name, value));
    else own.delete(name);
    if (own.size === 0) this.#byNamespace.delete(namespace);
    const now = this.#chosenIn(namespace);
    const key = this.#keyOf(namespace);
    if (now !== undefined) {
      this.#notify({ type: 'set', key, value: now, ...(previous === undefined ? {} : { previous }) });
    } else if (previous !== undefined) this.#notify({ type: 'deleted', key, value: previous });
  }

  #notify(change: StoreChange<SecretView>): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}
