export interface BindAddress {
  /** Name or IP address without brackets; empty for all addresses of the machine. */
  readonly host: string;
  /** Port number. 0 lets the system choose one. */
  readonly port: number;
}

export interface LeaderElectionSettings {
  readonly enabled: boolean;
  /** Namespace of the Lease. */
  readonly namespace: string;
  readonly leaseDurationMs: number;
  /** A leader that cannot renew for this time gives up. Less than the lease duration. */
  readonly renewDeadlineMs: number;
  /** Time between renewals. 1.2 times this is less than the renew deadline. */
  readonly retryPeriodMs: number;
}

/** Options of the command line that all components share. */
export interface ProcessOptions {
  /** Path of the kubeconfig for the seed. Absent: `$KUBECONFIG`, then the in-cluster service account, then `~/.kube/config`. */
  readonly kubeconfig?: string;
  /** Context of that kubeconfig. Absent: its current one. */
  readonly context?: string;
  /** Sustained requests per second to the seed. Infinity for no limit. */
  readonly qps: number;
  readonly burst: number;
  /** Address of the metrics server. Absent if there is none. */
  readonly metricsBindAddress?: BindAddress;
  /** Address of the health server. Absent if there is none. */
  readonly healthBindAddress?: BindAddress;
  readonly leaderElection: LeaderElectionSettings;
  readonly dryRun: boolean;
}
