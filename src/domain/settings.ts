/** Settings as the program uses them: defaults filled in, frozen. Every duration is in milliseconds. */

import type { LabelSelector } from './label-selectors.ts';

export interface ResourceRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

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
  readonly outsidePath?: OutsidePathSettings;
}

/**
 * What the outside path is good for, each with all before it: `observe` tells, `confirm` does not scale down while the path is whole,
 * `trigger` scales down before the leases have expired.
 */
export type OutsideMode = 'observe' | 'confirm' | 'trigger';

/** The way that kubelets take to a shoot's API server, tried from here. */
export interface OutsidePathSettings {
  /** Name of the Secret, in the shoot's namespace, whose key `kubeconfig` has the public address of the shoot's API server. */
  readonly kubeConfigSecretName: string;
  /** Of one try. */
  readonly timeoutMs: number;
  /** Consecutive failures until the path counts as broken. At least 1. */
  readonly failureThreshold: number;
  /** Consecutive successes until it counts as whole. At least 1. */
  readonly successThreshold: number;
  readonly mode: OutsideMode;
}

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

/** A Deployment that the prober scales, named as in its configuration. */
export interface CareDependant {
  readonly ref: ResourceRef;
  readonly optional: boolean;
}

export interface ConditionThreshold {
  /** Of the condition. */
  readonly type: string;
  /** How long a failure is called Progressing; 0 is a threshold too. */
  readonly thresholdMs: number;
}

export interface CareSettings {
  /** Name of the Secret, in the shoot's namespace, whose key `kubeconfig` reaches the shoot's API server. */
  readonly kubeConfigSecretName: string;
  /** Whether the kubeconfig of a shoot may name an `http://` server. Default false. */
  readonly allowInsecureShoots?: boolean;
  /** Time from one run for a shoot to the next. */
  readonly syncPeriodMs: number;
  /** Shoots checked at the same time. At least 1. */
  readonly concurrentSyncs: number;
  readonly dependants: readonly CareDependant[];
  /** Each type at most once. */
  readonly conditionThresholds: readonly ConditionThreshold[];
  /** Age from which what an extension reports counts as outdated. Absent: it never does. */
  readonly staleExtensionThresholdMs?: number;
  /** How long the roll-out of a ManagedResource may take. Absent: none is tolerated. */
  readonly progressingThresholdMs?: number;
  /** Whether the labels `shoot.garden.sapcloud.io/status` and `.../unhealthy` are kept as well. */
  readonly legacyStatusLabels: boolean;
}

/** `apiVersion/kind/name`: identifies a dependent resource within a namespace. */
export const refKey = (ref: ResourceRef): string => `${ref.apiVersion}/${ref.kind}/${ref.name}`;

/** API group of a kind; empty for the core group. */
export const groupOf = ({ apiVersion }: Pick<ResourceRef, 'apiVersion'>): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';

export interface BindAddress {
  /** Name or IP address without brackets; empty for all addresses of the machine. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

export interface LeaderElectionSettings {
  readonly enabled: boolean;
  /** Where the Lease lives. */
  readonly namespace: string;
  readonly leaseDurationMs: number;
  /** Below the lease duration. */
  readonly renewDeadlineMs: number;
  /** 1.2 times it is below the renew deadline. */
  readonly retryPeriodMs: number;
}

/** What the command line says about a component's process, whatever the component. */
export interface ProcessOptions {
  /** Path of the kubeconfig for the seed. Absent: `$KUBECONFIG`, then the in-cluster service account, then `~/.kube/config`. */
  readonly kubeconfig?: string;
  /** Requests per second to the seed, sustained; Infinity for no limit. */
  readonly qps: number;
  readonly burst: number;
  readonly concurrentReconciles: number;
  /** Absent: no metrics server. */
  readonly metricsBindAddress?: BindAddress;
  /** Absent: no health server. */
  readonly healthBindAddress?: BindAddress;
  readonly leaderElection: LeaderElectionSettings;
  readonly dryRun: boolean;
}
