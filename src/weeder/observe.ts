import type { PodView } from '../kubernetes/api/pod.ts';
import type { DependentPod } from './judge/decide.ts';
import { type PodNeed, type PodScope, emptyPlan, planScopes, plannedScope, scopeKey } from './judge/watch-plan.ts';
import type { PodWatch, PodWatches } from './pod-watches.ts';

export interface PodObserverOptions {
  readonly watches: PodWatches;
  /** Called when pods of a namespace have changed. */
  readonly onChange: (namespace: string) => void;
}

/** Watches the pods that weedings need, with as few watches as possible. */
export class PodObserver {
  readonly #options: PodObserverOptions;
  readonly #open = new Map<string, ScopeWatch>();
  #plan = emptyPlan;
  #needs: readonly PodNeed[] = [];

  constructor(options: PodObserverOptions) {
    this.#options = options;
  }

  /** Opens and closes watches so that they cover the needs of all weedings. */
  cover(needs: readonly PodNeed[]): void {
    this.#plan = planScopes(needs, this.#plan);
    this.#needs = needs;
    for (const [key, scope] of this.#plan.scopes) {
      if (this.#open.has(key)) continue;
      this.#open.set(key, new ScopeWatch(this.#options, scope, () => this.#closeUnused()));
    }
    this.#closeUnused();
  }

  /** Returns the pods seen so far for these needs of one namespace, without duplicates. */
  podsOf(needs: readonly PodNeed[]): readonly DependentPod[] {
    const seen = new Map<string, { readonly pod: PodView; readonly services: Set<string> }>();
    for (const need of needs) {
      for (const pod of this.#open.get(this.#shownBy(need))?.podsIn(need.namespace) ?? []) {
        const known = seen.get(pod.uid) ?? { pod, services: new Set() };
        known.services.add(need.service);
        seen.set(pod.uid, { ...known, pod: newerOf(known.pod, pod) });
      }
    }
    return Array.from(seen.values(), ({ pod, services }) => ({ pod, services: [...services] }));
  }

  close(): void {
    for (const watch of this.#open.values()) watch.close();
    this.#open.clear();
  }

  /** Key of the watch that serves a need: the planned one or, until that is synced, the watch of the namespace that it replaces. */
  #shownBy(need: PodNeed): string {
    const planned = plannedScope(this.#plan, need);
    const former = scopeKey(need);
    return this.#open.get(planned)?.synced !== true && this.#open.has(former) ? former : planned;
  }

  #closeUnused(): void {
    const used = new Set([...this.#plan.scopes.keys(), ...this.#needs.map((need) => this.#shownBy(need))]);
    for (const [key, watch] of this.#open) {
      if (used.has(key)) continue;
      this.#open.delete(key);
      watch.close();
    }
  }
}

/**
 * Returns the newer version of a pod, because one watch may lag behind another. Resource versions of one resource compare as numbers (KEP-5504); if they are no
 * numbers, the result is `known`.
 */
const newerOf = (known: PodView, other: PodView): PodView => {
  const [before, after] = [Number(known.resourceVersion), Number(other.resourceVersion)];
  return after > before ? other : known;
};

/** An open watch, with its pods indexed by namespace. */
class ScopeWatch {
  readonly #watch: PodWatch;
  readonly #byNamespace = new Map<string, Map<string, PodView>>();
  readonly #closing = new AbortController();
  readonly #unsubscribe: () => void;

  constructor({ watches, onChange }: PodObserverOptions, scope: PodScope, onSynced: () => void) {
    this.#watch = watches.open(scope);
    // Rejects if the watch is closed before it is synced.
    this.#watch.store.whenSynced(this.#closing.signal).then(onSynced, () => undefined);
    this.#unsubscribe = this.#watch.store.subscribe(({ type, key, value }) => {
      if (type === 'set') this.#set(key, value);
      else this.#remove(key, value);
      onChange(value.namespace);
    });
  }

  /** True once the watch has listed all pods of its scope. */
  get synced(): boolean {
    return this.#watch.store.synced;
  }

  podsIn(namespace: string): Iterable<PodView> {
    return this.#byNamespace.get(namespace)?.values() ?? [];
  }

  close(): void {
    this.#closing.abort();
    this.#unsubscribe();
    this.#watch.close();
  }

  #set(key: string, pod: PodView): void {
    const pods = this.#byNamespace.get(pod.namespace) ?? new Map<string, PodView>();
    this.#byNamespace.set(pod.namespace, pods.set(key, pod));
  }

  #remove(key: string, { namespace }: PodView): void {
    const pods = this.#byNamespace.get(namespace);
    if (pods?.delete(key) === true && pods.size === 0) this.#byNamespace.delete(namespace);
  }
}
