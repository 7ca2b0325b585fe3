/** Settings with their defaults filled in, frozen. Every duration is in milliseconds. */

import type { ResourceRef } from '../kubernetes/api/resource-ref.ts';

/** A Deployment that the prober scales, as named in the prober's configuration. */
export interface CareDependant {
  readonly ref: ResourceRef;
  readonly optional: boolean;
}

export interface ConditionThreshold {
  /** Of the condition. */
  readonly type: string;
  /** How long a failure is Progressing; 0 is a threshold, too. */
  readonly thresholdMs: number;
}

export interface CareSettings {
  /** Name of the Secret, in the shoot's namespace, whose key `kubeconfig` reaches the shoot's API server. */
  readonly kubeConfigSecretName: string;
  /** Whether the kubeconfig of a shoot may name an `http://` server. Default false. */
  readonly allowInsecureShoots?: boolean;
  /** Time from one check of a shoot to the next. */
  readonly syncPeriodMs: number;
  /** Shoots checked at the same time. At least 1. */
  readonly concurrentSyncs: number;
  readonly dependants: readonly CareDependant[];
  /** Each type at most once. */
  readonly conditionThresholds: readonly ConditionThreshold[];
  /** Age from which an extension's report is outdated. Absent: it never is. */
  readonly staleExtensionThresholdMs?: number;
  /** How long the roll-out of a ManagedResource may take. Absent: a roll-out is a failure at once. */
  readonly progressingThresholdMs?: number;
  /** Whether the labels `shoot.garden.sapcloud.io/status` and `.../unhealthy` are maintained as well. */
  readonly legacyStatusLabels: boolean;
}
