import { WaitQueue } from '../transport/index.ts';
import type { Store, StoreChange } from './store.ts';

/** A store whose source is connected later; until then it is empty and not synced. */
export class DeferredStore<T> implements Store<T> {
  readonly #listeners = new Set<(change: StoreChange<T>) => void>();
  readonly #waiting = new WaitQueue();
  #source: Store<T> | undefined;

  get synced(): boolean {
    return this.#source?.synced ?? false;
  }

  get(key: string): T | undefined {
    return this.#source?.get(key);
  }

  entries(): ReturnType<Store<T>['entries']> {
    return this.#source?.entries() ?? [];
  }

  subscribe(listener: (change: StoreChange<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    if (this.#source === undefined) await this.#waiting.join(signal);
    await this.#source?.whenSynced(signal);
  }

  /** Connects the source; call it once. Objects that the source already holds are not announced, so connect it before it runs. */
  connect(source: Store<T>): void {
    this.#source = source;
    source.subscribe((change) => {
      for (const listener of this.#listeners) listener(change);
    });
    this.#waiting.wakeAll();
  }
}
