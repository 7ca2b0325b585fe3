/** The pods that one watch covers. */
export interface PodScope {
  /** Namespace of the pods; absent for all namespaces. */
  readonly namespace?: string;
  /** Value of the query parameter `labelSelector`. */
  readonly selector: string;
}

/** Pods that one weeding must watch. */
export interface PodNeed {
  readonly namespace: string;
  readonly service: string;
  /** Value of the query parameter `labelSelector`. */
  readonly selector: string;
}

export interface WatchPlan {
  /** Scopes of the watches, by `scopeKey`. */
  readonly scopes: ReadonlyMap<string, PodScope>;
  /** Selectors with a watch over all namespaces, which stays while a weeding needs it. */
  readonly allNamespaces: ReadonlySet<string>;
}

export const emptyPlan: WatchPlan = { scopes: new Map(), allNamespaces: new Set() };

/** Number of weedings with the same selector from which one watch over all namespaces serves them. */
const clusterWideThreshold = 10;

export const scopeKey = ({ namespace, selector }: PodScope): string => `${namespace ?? ''}/${selector}`;

/**
 * Plans the watches for all needed pods: one per namespace and selector while few weedings share a selector, then one over all namespaces. Thus the recovery
 * of a whole seed costs a handful of connections and not a thousand. Pure.
 */
export const planScopes = (needs: readonly PodNeed[], before: WatchPlan): WatchPlan => {
  const weedings = new Map<string, Set<string>>();
  for (const { namespace, service, selector } of needs) {
    const known = weedings.get(selector) ?? new Set();
    weedings.set(selector, known.add(`${namespace}/${service}`));
  }
  const isShared = (selector: string): boolean =>
    before.allNamespaces.has(selector) || (weedings.get(selector)?.size ?? 0) >= clusterWideThreshold;
  const scopes = needs.map(
    ({ namespace, selector }): PodScope => (isShared(selector) ? { selector } : { namespace, selector }),
  );
  return {
    scopes: new Map(scopes.map((scope) => [scopeKey(scope), scope])),
    allNamespaces: new Set([...weedings.keys()].filter(isShared)),
  };
};

/** Returns the key of the watch that covers the needed pods once it is synced. */
export const plannedScope = ({ allNamespaces }: WatchPlan, { namespace, selector }: Omit<PodNeed, 'service'>): string =>
  scopeKey(allNamespaces.has(selector) ? { selector } : { namespace, selector });
