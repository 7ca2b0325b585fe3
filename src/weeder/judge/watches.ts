/** The pods that one watch covers. */
export interface PodScope {
  /** Namespace of the pods; absent for all namespaces. */
  readonly namespace?: string;
  /** Value of the query parameter `labelSelector`. */
  readonly selector: string;
}

/** Number of weedings with the same selector from which one watch over all namespaces serves them. */
const clusterWideThreshold = 10;

export const scopeKey = ({ namespace = '', selector }: PodScope): string => `${namespace}/${selector}`;

/**
 * Plans the watches for weedings that need the pods of these scopes: one per namespace and selector while few weedings share a selector, then one over all
 * namespaces, which stays while a weeding needs it. Thus the recovery of a whole seed costs a handful of connections and not a thousand.
 */
export const planWatches = (
  needed: readonly PodScope[],
  open: { has(key: string): boolean },
): ReadonlyMap<string, PodScope> => {
  const weedings = new Map<string, number>();
  for (const { selector } of needed) weedings.set(selector, (weedings.get(selector) ?? 0) + 1);
  const scopes = needed.map((scope): PodScope => {
    const everywhere = { selector: scope.selector };
    const isShared = open.has(scopeKey(everywhere)) || (weedings.get(scope.selector) ?? 0) >= clusterWideThreshold;
    return isShared ? everywhere : scope;
  });
  return new Map(scopes.map((scope) => [scopeKey(scope), scope]));
};
