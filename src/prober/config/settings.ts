/** Settings with their defaults filled in, frozen. Every duration is in milliseconds. */

import type { Pause } from '../../annotations/pause.ts';
import type { RefTemplate } from './ref-template.ts';

export interface ScaleInfo {
  /** Resources are scaled in ascending order of level; those of one level together. */
  readonly level: number;
  readonly initialDelayMs: number;
  readonly timeoutMs: number;
}

export interface DependentResource {
  readonly ref: RefTemplate;
  readonly optional: boolean;
  readonly scaleUp: ScaleInfo;
  /** Absent: the resource takes no part in scale-downs. */
  readonly scaleDown?: ScaleInfo;
  /** Set if the resource is no longer configured: it is restored if we hold it, and otherwise left alone. */
  readonly restoreOnly?: true;
}

/** The source `secret`: each Secret of the configured name, or that `selector` selects, shows a cluster. Its namespace is the cluster's name. */
export interface ClusterSourceSettings {
  /** Key of the Secret's data that holds the kubeconfig. */
  readonly key: string;
  /** Label selector as in a query: it selects the Secrets, in place of their name. */
  readonly selector?: string | undefined;
  /** The same for the nodes whose leases count. Absent: all. */
  readonly nodeSelector?: string | undefined;
}

export interface ProberSettings {
  /** Absent: the clusters are Gardener's shoots. */
  readonly clusterSource?: ClusterSourceSettings;
  /**
   * Name of the Secret, in the shoot's namespace, whose key `kubeconfig` (or that of `clusterSource`) reaches the shoot's API server. If a label selector
   * selects the Secrets, it is that selector, which no Secret can have as its name.
   */
  readonly kubeConfigSecretName: string;
  readonly probeIntervalMs: number;
  readonly initialDelayMs: number;
  /** Limit of a probe run as a whole. */
  readonly probeTimeoutMs: number;
  readonly backoffJitterFactor: number;
  /** KCM's `--node-monitor-grace-period`, unless the shoot sets its own. */
  readonly nodeMonitorGraceMs: number;
  /** Absent: half of the longest lease duration, and at least half of the grace period. 0: off. */
  readonly allSilentAfterMs?: number;
  readonly landingTimeoutMs: number;
  /** In (0, 1]. */
  readonly nodeLeaseFailureFraction: number;
  readonly dependentResources: readonly DependentResource[];
  /** True if the kubeconfig of a shoot may name an `http://` server. Default: false. */
  readonly allowInsecureShoots?: boolean;
  /** The pause of all shoots that the configuration orders. */
  readonly paused?: Pause;
  /** Absent: shoots are judged by their leases alone. */
  readonly externalProbe?: ExternalProbeSettings;
}

/** Effects of the external probe: `observe` reports; `trigger` also shortens the time after which all candidates count as silent, while the address is unreachable. */
export type ExternalProbeMode = 'observe' | 'trigger';

/** Settings of the external probe, which tries the public address of a shoot's API server: kubelets use that address. */
export interface ExternalProbeSettings {
  /** Name of the Secret, in the shoot's namespace, whose key (`kubeconfigKeyOf`) has the public address of the shoot's API server. */
  readonly kubeConfigSecretName: string;
  /** Timeout of one attempt. */
  readonly timeoutMs: number;
  /** Consecutive failures until the address counts as unreachable. At least 1. */
  readonly failureThreshold: number;
  /** Consecutive responses until it counts as reachable. At least 1. */
  readonly successThreshold: number;
  readonly mode: ExternalProbeMode;
}
