/** Settings with their defaults filled in, frozen. Every duration is in milliseconds. */

import type { LabelSelector } from '../kubernetes/api/label-selectors.ts';

/** A service others depend on. */
export interface WeededService {
  /** Of the Service, in whatever namespace; the label `kubernetes.io/service-name` of its EndpointSlices. */
  readonly name: string;
  /** Each selects a group of dependants, in the namespace of the service. At least one, and none of them is empty. */
  readonly podSelectors: readonly LabelSelector[];
}

export interface WeederSettings {
  /** How long a weeding lasts. */
  readonly watchDurationMs: number;
  /** At least one; each name once. */
  readonly services: readonly WeededService[];
}
