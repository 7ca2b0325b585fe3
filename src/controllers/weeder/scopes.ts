import type { PodScope } from '../../ports/index.ts';

/** Pods that one weeding needs to see. */
export interface Need {
  readonly namespace: string;
  readonly service: string;
  /** Value of the query parameter `labelSelector`. */
  readonly selector: string;
}

export interface ScopePlan {
  /** By `scopeKey`. */
  readonly scopes: ReadonlyMap<string, PodScope>;
  /** Selectors that are watched over all namespaces, until no weeding needs them any more. */
  readonly wide: ReadonlySet<string>;
}

export const noScopes: ScopePlan = { scopes: new Map(), wide: new Set() };

/** So many weedings that share a selector are watched by one watch over all namespaces. */
const wideFrom = 10;

export const scopeKey = ({ namespace, selector }: PodScope): string => `${namespace ?? ''}/${selector}`;

/**
 * Which watches show all that is needed: one per namespace and selector while few weedings share a selector, then one over all namespaces, so
 * that the recovery of a whole seed costs a handful of connections and not a thousand. Pure.
 */
export const planScopes = (needs: readonly Need[], before: ScopePlan): ScopePlan => {
  const weedings = new Map<string, Set<string>>();
  for (const { namespace, service, selector } of needs) {
    const known = weedings.get(selector) ?? new Set();
    weedings.set(selector, known.add(`${namespace}/${service}`));
  }
  const isWide = (selector: string): boolean =>
    before.wide.has(selector) || (weedings.get(selector)?.size ?? 0) >= wideFrom;
  const scopes = needs.map(
    ({ namespace, selector }): PodScope => (isWide(selector) ? { selector } : { namespace, selector }),
  );
  return {
    scopes: new Map(scopes.map((scope) => [scopeKey(scope), scope])),
    wide: new Set([...weedings.keys()].filter(isWide)),
  };
};

/** The watch of `plan` that shows the pods of a need. */
export const coveringScope = ({ wide }: ScopePlan, { namespace, selector }: Omit<Need, 'service'>): string =>
  scopeKey(wide.has(selector) ? { selector } : { namespace, selector });
