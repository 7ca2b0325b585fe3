import type { PodView } from '../../domain/index.ts';
import type { PodScope, PodWatch, PodWatches } from '../../ports/index.ts';
import type { SeenPod } from './decide.ts';
import { coveringScope, type Need, noScopes, planScopes } from './scopes.ts';

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
  readonly byNamespace: ReadonlyMap<string, ReadonlyMap<string, PodView>>;
  close(): void;
}

export const createPodObserver = ({ watches, onChange }: PodObserverOptions): PodObserver => {
  const open = new Map<string, OpenWatch>();
  let plan = noScopes;

  return {
    cover: (needs) => {
      plan = planScopes(needs, plan);
      for (const [key, watch] of open) {
        if (plan.scopes.has(key)) continue;
        open.delete(key);
        watch.close();
      }
      for (const [key, scope] of plan.scopes) {
        if (!open.has(key)) open.set(key, openWatch(watches, scope, onChange));
      }
    },
    podsOf: (needs) => {
      const seen = new Map<string, { readonly pod: PodView; readonly services: Set<string> }>();
      for (const need of needs) {
        const shown = open.get(coveringScope(plan, need))?.byNamespace.get(need.namespace);
        for (const pod of shown?.values() ?? []) {
          const known = seen.get(pod.uid) ?? { pod, services: new Set() };
          known.services.add(need.service);
          seen.set(pod.uid, known);
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

const openWatch = (watches: PodWatches, scope: PodScope, onChange: (namespace: string) => void): OpenWatch => {
  const watch: PodWatch = watches.open(scope);
  const byNamespace = new Map<string, Map<string, PodView>>();
  const unsubscribe = watch.store.subscribe(({ type, key, value }) => {
    const pods = byNamespace.get(value.namespace) ?? new Map<string, PodView>();
    if (type === 'set') byNamespace.set(value.namespace, pods.set(key, value));
    else if (pods.delete(key) && pods.size === 0) byNamespace.delete(value.namespace);
    onChange(value.namespace);
  });
  return {
    byNamespace,
    close: () => {
      unsubscribe();
      watch.close();
    },
  };
};
