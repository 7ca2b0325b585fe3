/** The pods that one watch shows. */
export interface PodScope {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** Value of the query parameter `labelSelector`. */
  readonly selector: string;
}

/** Pods that one weeding must see. */
export interface PodNeed {
  readonly namespace: string;
  readonly service: string;
  /** Value of the query parameter `labelSelector`. */
  readonly selector: string;
}

export interface WatchPlan {
  /** By `scopeKey`. */
  readonly scopes: ReadonlyMap<string, PodScope>;
  /** Selectors that are watched over all namespaces, as long as some weeding needs them. */
  readonly allNamespaces: ReadonlySet<string>;
}

export const emptyPlan: WatchPlan = { scopes: new Map(), allNamespaces: new Set() };

/** From this many weedings with one selector on, one watch over all namespaces serves them. */
const sharedFrom = 10;

export const scopeKey = ({ namespace, selector }: PodScope): string => `${namespace ?? ''}/${selector}`;

/**
 * The watches that show all needed pods: one per namespace and selector while few weedings share a selector, then one over all namespaces. So
 * the recovery of a whole seed costs a handful of connections and not a thousand. Pure.
 */
export const planScopes = (needs: readonly PodNeed[], before: WatchPlan): WatchPlan => {
  const weedings = new Map<string, Set<string>>();
  for (const { namespace, service, selector } of needs) {
    const known = weedings.get(selector) ?? new Set();
    weedings.set(selector, known.add(`${namespace}/${service}`));
  }
  const isShared = (selector: string): boolean =>
    before.allNamespaces.has(selector) || (weedings.get(selector)?.size ?? 0) >= sharedFrom;
  const scopes = needs.map(
    ({ namespace, selector }): PodScope => (isShared(selector) ? { selector } : { namespace, selector }),
  );
  return {
    scopes: new Map(scopes.map((scope) => [scopeKey(scope), scope])),
    allNamespaces: new Set([...weedings.keys()].filter(isShared)),
  };
};

/** Key of the watch that shows the needed pods once it is synced. */
export const plannedScope = ({ allNamespaces }: WatchPlan, { namespace, selector }: Omit<PodNeed, 'service'>): string =>
  scopeKey(allNamespaces.has(selector) ? { selector } : { namespace, selector });
