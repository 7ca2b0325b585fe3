import type { ScalableObject } from '../api/scalable.ts';
import type { Store } from './store.ts';

/** Result of discovery for the kind of a dependent resource. */
export type ServedKind =
  | { readonly kind: 'served' /** Plural, such as `deployments`. */; readonly resource: string }
  | { readonly kind: 'not-served'; readonly problem: string }
  /** Discovery has not succeeded yet. */
  | { readonly kind: 'unknown' };

/** A configured dependent resource, watched by its name in all namespaces. */
export interface DependentSource {
  served(): ServedKind;
  readonly store: Store<ScalableObject>;
}

/** Sources by `refKey`. */
export type DependentSources = ReadonlyMap<string, DependentSource>;
