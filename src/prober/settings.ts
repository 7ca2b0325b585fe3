/** Settings with their defaults filled in, frozen. Every duration is in milliseconds. */

import type { ResourceRef } from '../kubernetes/api/resource-ref.ts';

export interface ScaleInfo {
  /** Resources are scaled in ascending order of level; those of one level together. */
  readonly level: number;
  readonly initialDelayMs: number;
  readonly timeoutMs: number;
}

export interface DependentResource {
  readonly ref: ResourceRef;
  readonly optional: boolean;
  readonly scaleUp: ScaleInfo;
  /** Absent: the resource takes no part in scale-downs. */
  readonly scaleDown?: ScaleInfo;
  /** No longer configured: restored where we hold it down, and left alone everywhere else. */
  readonly onlyWhereHeld?: true;
}

export interface ProberSettings {
  /** Name of the Secret, in the shoot's namespace, whose key `kubeconfig` reaches the shoot's API server. */
  readonly kubeConfigSecretName: string;
  readonly probeIntervalMs: number;
  readonly initialDelayMs: number;
  /** Bounds a probe run as a whole. */
  readonly probeTimeoutMs: number;
  readonly backoffJitterFactor: number;
  /** KCM's `--node-monitor-grace-period`, unless the shoot sets its own. */
  readonly nodeMonitorGraceMs: number;
  /** In (0, 1]. */
  readonly nodeLeaseFailureFraction: number;
  readonly dependentResources: readonly DependentResource[];
  /** Whether the kubeconfig of a shoot may name an `http://` server. Default false. */
  readonly allowInsecureShoots?: boolean;
  /** What runs the API server of a shoot, in its namespace: while it has no available replica, the API server is down. */
  readonly apiServerRef: ResourceRef;
  /** Absent: shoots are judged by their leases alone. */
  readonly externalProbe?: ExternalProbeSettings;
}

/**
 * What the outside path is good for, each with all before it: `observe` tells, `confirm` does not scale down while the path is whole,
 * `trigger` scales down before the leases have expired.
 */
export type ExternalProbeMode = 'observe' | 'confirm' | 'trigger';

/** The way that kubelets take to a shoot's API server, tried from here. */
export interface ExternalProbeSettings {
  /** Name of the Secret, in the shoot's namespace, whose key `kubeconfig` has the public address of the shoot's API server. */
  readonly kubeConfigSecretName: string;
  /** Of one try. */
  readonly timeoutMs: number;
  /** Consecutive failures until the path counts as broken. At least 1. */
  readonly failureThreshold: number;
  /** Consecutive successes until it counts as whole. At least 1. */
  readonly successThreshold: number;
  readonly mode: ExternalProbeMode;
}
