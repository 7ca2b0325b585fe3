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
