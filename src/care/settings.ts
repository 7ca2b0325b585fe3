/** Settings with defaults applied, frozen. Every duration is in milliseconds. */

import type { ResourceRef } from '../kubernetes/api/resource-ref.ts';

/** A Deployment that the prober scales, as in the prober's configuration. */
export interface CareDependant {
  readonly ref: ResourceRef;
  readonly optional: boolean;
}

export interface ConditionThreshold {
  /** Type of the condition. */
  readonly type: string;
  /** Time for which a failure is Progressing; 0 is a threshold, too. */
  readonly thresholdMs: number;
}

export interface CareSettings {
  /** Name of the Secret in the shoot's namespace whose key `kubeconfig` holds a kubeconfig for the shoot's API server. */
  readonly kubeConfigSecretName: string;
  /** True if the kubeconfig of a shoot may name an `http://` server. Default false. */
  readonly allowInsecureShoots?: boolean;
  /** Interval between two checks of a shoot. */
  readonly syncPeriodMs: number;
  /** Maximum number of concurrent checks of shoots, at least 1. */
  readonly concurrentSyncs: number;
  readonly dependants: readonly CareDependant[];
  /** Thresholds, with each condition type at most once. */
  readonly conditionThresholds: readonly ConditionThreshold[];
  /** Age beyond which an extension's report is outdated. If absent, it never is. */
  readonly staleExtensionThresholdMs?: number;
  /** How long the roll-out of a ManagedResource may take. If absent, every roll-out is a failure. */
  readonly progressingThresholdMs?: number;
  /** True if care also writes the labels `shoot.garden.sapcloud.io/status` and `.../unhealthy`. */
  readonly legacyStatusLabels: boolean;
}
