/** Settings with their defaults filled in, frozen. Every duration is in milliseconds. */

import type { LabelSelector } from '../kubernetes/api/label-selectors.ts';

/** A service that pods depend on. */
export interface WeededService {
  /** Name of the Service, in all namespaces: the label `kubernetes.io/service-name` of its EndpointSlices. */
  readonly name: string;
  /** Each selects a group of dependent pods in the namespace of the Service. At least one, and none is empty. */
  readonly podSelectors: readonly LabelSelector[];
}

export interface WeederSettings {
  /** How long a weeding lasts. */
  readonly watchDurationMs: number;
  /** At least one; each name once. */
  readonly services: readonly WeededService[];
}
