import type { ScalableObject } from '../api/scalable.ts';
import type { Store } from './store.ts';

/** What discovery says of a dependent resource's kind. */
export type ServedKind =
  | { readonly kind: 'served' /** Plural, such as `deployments`. */; readonly resource: string }
  | { readonly kind: 'not-served'; readonly problem: string }
  /** Discovery has not answered yet. */
  | { readonly kind: 'unknown' };

/** One configured dependent resource, watched by its name over all namespaces. */
export interface DependentSource {
  served(): ServedKind;
  readonly store: Store<ScalableObject>;
}

/** Sources by `refKey`. */
export type DependentSources = ReadonlyMap<string, DependentSource>;
