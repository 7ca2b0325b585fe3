import type { PodView } from '../../domain/index.ts';
import type { PodScope, PodWatch, PodWatches } from '../../ports/index.ts';
import type { SeenPod } from './decide.ts';
import { coveringScope, type Need, noScopes, planScopes, scopeKey } from './scopes.ts';

export interface PodObserverOptions {
  readonly watches: PodWatches;
  /** Pods of a namespace have changed. */
  readonly onChange: (namespace: string) => void;
}

/** The pods that weedings need to see, by as few watches as show them. */
export interface PodObserver {
  /** Opens and closes watches until they show what all weedings together need. */
  cover(needs: readonly Need[]): void;
  /** What these needs of one namespace show by now; each pod once. */
  podsOf(needs: readonly Need[]): readonly SeenPod[];
  close(): void;
}

interface OpenWatch {
  /** True once it shows all that there is. */
  readonly synced: boolean;
  readonly byNamespace: ReadonlyMap<string, ReadonlyMap<string, PodView>>;
  close(): void;
}

export const createPodObserver = ({ watches, onChange }: PodObserverOptions): PodObserver => {
  const open = new Map<string, OpenWatch>();
  let plan = noScopes;
  let covered: readonly Need[] = [];

  /** The watch that is to show a need or, until that one has its first list, the one that did before. */
  const shownBy = (need: Need): string => {
    const wanted = coveringScope(plan, need);
    const former = scopeKey(need);
    return open.get(wanted)?.synced !== true && open.has(former) ? former : wanted;
  };

  const closeOthers = (): void => {
    const used = new Set([...plan.scopes.keys(), ...covered.map(shownBy)]);
    for (const [key, watch] of open) {
      if (used.has(key)) continue;
      open.delete(key);
      watch.close();
    }
  };

  return {
    cover: (needs) => {
      plan = planScopes(needs, plan);
      covered = needs;
      for (const [key, scope] of plan.scopes) {
        if (!open.has(key)) open.set(key, openWatch(watches, { scope, onChange, onSynced: closeOthers }));
      }
      closeOthers();
    },
    podsOf: (needs) => {
      const seen = new Map<string, { readonly pod: PodView; readonly services: Set<string> }>();
      for (const need of needs) {
        const shown = open.get(shownBy(need))?.byNamespace.get(need.namespace);
        for (const pod of shown?.values() ?? []) {
          const known = seen.get(pod.uid) ?? { pod, services: new Set() };
          known.services.add(need.service);
          seen.set(pod.uid, { ...known, pod: newerOf(known.pod, pod) });
        }
      }
      return Array.from(seen.values(), ({ pod, services }) => ({ pod, services: [...services] }));
    },
    close: () => {
      for (const watch of open.values()) watch.close();
      open.clear();
    },
  };
};

/**
 * One watch may lag behind another. Resource versions of one resource compare as numbers (KEP-5504); where they are none, the one known first
 * stays.
 */
const newerOf = (known: PodView, other: PodView): PodView => {
  const [before, after] = [Number(known.resourceVersion), Number(other.resourceVersion)];
  return after > before ? other : known;
};

interface OpenWatchOptions {
  readonly scope: PodScope;
  readonly onChange: (namespace: string) => void;
  readonly onSynced: () => void;
}

const openWatch = (watches: PodWatches, { scope, onChange, onSynced }: OpenWatchOptions): OpenWatch => {
  const watch: PodWatch = watches.open(scope);
  const byNamespace = new Map<string, Map<string, PodView>>();
  const closing = new AbortController();
  // Rejects when it is closed before.
  watch.store.whenSynced(closing.signal).then(onSynced, () => undefined);
  const unsubscribe = watch.store.subscribe(({ type, key, value }) => {
    const pods = byNamespace.get(value.namespace) ?? new Map<string, PodView>();
    if (type === 'set') byNamespace.set(value.namespace, pods.set(key, value));
    else if (pods.delete(key) && pods.size === 0) byNamespace.delete(value.namespace);
    onChange(value.namespace);
  });
  return {
    get synced() {
      return watch.store.synced;
    },
    byNamespace,
    close: () => {
      closing.abort();
      unsubscribe();
      watch.close();
    },
  };
};
