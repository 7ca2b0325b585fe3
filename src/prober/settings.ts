/** Settings with their defaults filled in, frozen. Every duration is in milliseconds. */

import type { Annotation } from '../kubernetes/api/scalable.ts';
import type { PlacedRef } from './place.ts';

export interface ScaleInfo {
  /** Resources are scaled in ascending order of level; those of one level together. */
  readonly level: number;
  readonly initialDelayMs: number;
  readonly timeoutMs: number;
}

export interface DependentResource {
  readonly ref: PlacedRef;
  readonly optional: boolean;
  /** Set while protecting, in place of scaling the resource to 0. */
  readonly annotation?: Annotation;
  readonly scaleUp: ScaleInfo;
  /** Absent: the resource takes no part in scale-downs. */
  readonly scaleDown?: ScaleInfo;
  /** No longer configured: restored where we hold it down, and left alone everywhere else. */
  readonly onlyWhereHeld?: true;
}

/** Clusters that are none of Gardener's. */
export interface ClusterSourceSettings {
  /** `secret`: clusters go by the Secrets of the configured name, a namespace each. */
  readonly kind: 'secret' | 'cluster-api';
  /** Of the Secret's data, with the kubeconfig. */
  readonly key: string;
  /** Of the kind `secret`, a label selector as a query has it: Secrets go by it, and by no name. */
  readonly selector?: string | undefined;
}

export interface ProberSettings {
  /** Absent: the clusters are Gardener's shoots. */
  readonly clusterSource?: ClusterSourceSettings;
  /**
   * Name of the Secret, in the shoot's namespace, whose key `kubeconfig` (or that of `clusterSource`) reaches the shoot's API server. Where Secrets go by a label
   * selector: that selector, which no Secret can be named like.
   */
  readonly kubeConfigSecretName: string;
  readonly probeIntervalMs: number;
  readonly initialDelayMs: number;
  /** Bounds a probe run as a whole. */
  readonly probeTimeoutMs: number;
  readonly backoffJitterFactor: number;
  /** KCM's `--node-monitor-grace-period`, unless the shoot sets its own. */
  readonly nodeMonitorGraceMs: number;
  /** Absent: half of the longest lease duration, and at least half of the grace. 0: off. */
  readonly allSilentAfterMs?: number;
  readonly landingTimeoutMs: number;
  /** In (0, 1]. */
  readonly nodeLeaseFailureFraction: number;
  readonly dependentResources: readonly DependentResource[];
  /** Whether the kubeconfig of a shoot may name an `http://` server. Default false. */
  readonly allowInsecureShoots?: boolean;
  /** What runs the API server of a shoot, in its namespace: while it has no available replica, the API server is down. */
  readonly apiServerRef: PlacedRef;
  /** Why nothing is scaled down; absent: it is. */
  readonly paused?: string;
  /** Absent: shoots are judged by their leases alone. */
  readonly externalProbe?: ExternalProbeSettings;
}

/**
 * What the external probe may do, each mode with all before it: `observe` reports, `confirm` does not scale down while the address is reachable,
 * `trigger` scales down before the leases have expired.
 */
export type ExternalProbeMode = 'observe' | 'confirm' | 'trigger';

/** Tries the public address of a shoot's API server, which kubelets use. */
export interface ExternalProbeSettings {
  /** Name of the Secret, in the shoot's namespace, whose key (`kubeconfigKeyOf`) has the public address of the shoot's API server. */
  readonly kubeConfigSecretName: string;
  /** Of one attempt. */
  readonly timeoutMs: number;
  /** Consecutive failures until the address counts as unreachable. At least 1. */
  readonly failureThreshold: number;
  /** Consecutive answers until it counts as reachable. At least 1. */
  readonly successThreshold: number;
  readonly mode: ExternalProbeMode;
}
