/** Settings with defaults applied, frozen. Every duration is in milliseconds. */

import type { LabelSelector } from '../kubernetes/api/label-selectors.ts';

/** A service that pods depend on. */
export interface WeededService {
  /** Name of the Service, in any namespace: the label `kubernetes.io/service-name` of its EndpointSlices. */
  readonly name: string;
  /** Selectors of dependent pods in the namespace of the Service; a pod depends if one of them matches. At least one; none is empty. */
  readonly podSelectors: readonly LabelSelector[];
}

export interface WeederSettings {
  /** How long a weeding lasts. */
  readonly watchDurationMs: number;
  /** Services whose dependent pods are weeded: at least one, with unique names. */
  readonly services: readonly WeededService[];
}
