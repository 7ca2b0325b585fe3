/** What the process that serves the world is started with. */
export interface WorldInit {
  readonly shoots: number;
  readonly nodes: number;
  /** Of all its times: below 1 everything is faster. */
  readonly scale: number;
}

/** What the driver tells the process that serves the world. */
export type Order = 'measure' | 'cut' | 'restore' | 'report';

/** What it is first told by the world. */
export interface Ready {
  readonly kubeconfig: string;
  readonly kubeConfigSecretName: string;
}

/** One write to the replicas of a Deployment. */
export interface ScaleWrite {
  /** Milliseconds since the epoch, when the server had stored it. */
  readonly at: number;
  readonly namespace: string;
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** One request that reached the seed's API server. */
export interface SeedRequest {
  readonly at: number;
  readonly verb: string;
  readonly resource: string;
}

/** Last renewals of a shoot's leases, milliseconds since the epoch. */
export interface ShootLeases {
  readonly namespace: string;
  readonly renewals: readonly number[];
}

/** The world's record since the latest `measure`. */
export interface WorldReport {
  readonly leases: readonly ShootLeases[];
  readonly writes: readonly ScaleWrite[];
  readonly requests: readonly SeedRequest[];
  readonly held: number;
  /** Lists of leases since the beginning, of the shoot that has had the fewest. */
  readonly fewestProbes: number;
  readonly nodesTurnedUnknown: number;
  readonly machinesReplaced: number;
  /** CPU time of the process. */
  readonly cpuSeconds: number;
  /** How late the event loop's timers were at the worst, in milliseconds. */
  readonly worstLoopDelayMs: number;
}

export type Answer =
  | { readonly order: 'ready'; readonly ready: Ready }
  | { readonly order: 'report'; readonly report: WorldReport }
  | { readonly order: 'cut' | 'restore' | 'measure'; readonly at: number };
