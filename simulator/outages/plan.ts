import type { ExternalProbeMode, ProberSettings } from '../../src/prober/index.ts';
import type { WorldSource } from '../world/index.ts';

/** Fault of an API server. `refused` and `silent` apply to all clients, the others only to watchdogs. */
export type ApiFault =
  | { readonly how: 'refused' }
  | { readonly how: 'silent' }
  | { readonly how: 'slow'; readonly delayMs: number }
  /** `part`: share of the requests. Default: all. */
  | {
      readonly how: 'status';
      readonly status: 401 | 403 | 429 | 500 | 503;
      readonly retryAfter?: number;
      readonly part?: number;
    }
  /** A share of all requests is reset, gets no connection, gets 503 or is slow. */
  | { readonly how: 'flaky'; readonly part: number };

/** `seed`, the name of a shoot, or `outside`: the public addresses of all shoots, as watchdogs use them. */
export type ServerName = string;

/** A temporary fault. It names shoots, and numbers nodes and replicas, so that it stays valid when shrinking removes others. */
export type Fault =
  /** The public address of one shoot, or of all, is unreachable for kubelets and all other clients. */
  | { readonly kind: 'load-balancer'; readonly shoot: string | undefined; readonly how: 'refused' | 'silent' }
  /** The public address is unreachable for watchdogs only. */
  | { readonly kind: 'public-way'; readonly shoot: string | undefined; readonly how: 'refused' | 'silent' }
  /** Some nodes have no outbound network. */
  | { readonly kind: 'nat-gateway'; readonly shoot: string; readonly nodes: readonly number[] }
  | { readonly kind: 'api-server'; readonly server: ServerName; readonly trouble: ApiFault }
  /** Packets of one replica to a server are lost. */
  | { readonly kind: 'partition'; readonly replica: number; readonly server: ServerName }
  /** Writes to the seed have a fault, except those of the election: of one replica or of all, to one Deployment or to any object. */
  | {
      readonly kind: 'writes';
      readonly replica?: number;
      readonly deployment?: string;
      readonly how: { readonly status: 403 } | { readonly delayMs: number };
    }
  | { readonly kind: 'dns'; readonly replica: number; readonly server: ServerName }
  /** A share of the writes is carried out, and the responses never arrive. */
  | { readonly kind: 'lost-answers'; readonly how: 'reset' | 'drop'; readonly part: number }
  | { readonly kind: 'compaction' }
  /** The API server of a shoot does not stamp renewals, as before Kubernetes 1.25. */
  | { readonly kind: 'no-stamps'; readonly shoot: string }
  | {
      readonly kind: 'long-leases';
      readonly shoot: string;
      readonly nodes: readonly number[];
      readonly seconds: number;
    }
  | { readonly kind: 'node-clock'; readonly shoot: string; readonly nodes: readonly number[]; readonly ms: number }
  | { readonly kind: 'watchdog-clock'; readonly replica: number; readonly ms: number }
  | { readonly kind: 'api-server-clock'; readonly server: ServerName; readonly ms: number }
  /**
   * `expired`: the token is rotated, and the new one is published when the fault ends; `rotated`: it is published at once; `broken`: the Secret
   * has an invalid kubeconfig; `missing`: no Secret; `removed`: no Secret, for good; `replaced`: the token is rotated, in another Secret of the same
   * name.
   */
  | {
      readonly kind: 'credentials';
      readonly shoot: string;
      readonly how: 'expired' | 'rotated' | 'broken' | 'missing' | 'removed' | 'replaced';
    }
  | { readonly kind: 'kill'; readonly replica: number }
  | { readonly kind: 'stop'; readonly replica: number }
  | { readonly kind: 'pause'; readonly replica: number }
  /** An autoscaler scales a Deployment again and again, but never from 0, unless `fromZero` makes it another writer. */
  | {
      readonly kind: 'autoscaler';
      readonly shoot: string;
      readonly deployment: string;
      readonly everyMs: number;
      readonly fromZero?: boolean;
    }
  | { readonly kind: 'ignore-scaling'; readonly shoot: string; readonly deployment: string }
  /** An operator pauses one shoot, or all. `expires`: true if the pause has an end, false if it lasts until resumed. */
  | {
      readonly kind: 'protection-pause';
      readonly shoot: string | undefined;
      readonly ms: number;
      readonly expires: boolean;
    }
  | { readonly kind: 'hibernation'; readonly shoot: string }
  | { readonly kind: 'deletion'; readonly shoot: string }
  | { readonly kind: 'no-workers'; readonly shoot: string; readonly isForGood?: boolean }
  /** The Cluster is deleted. */
  | { readonly kind: 'cluster-gone'; readonly shoot: string }
  /** The Namespace is deleted for good, its contents some time later. */
  | { readonly kind: 'namespace-deletion'; readonly shoot: string }
  /** Nodes are not candidates: failed, unhealthy, no longer managed by MCM, or about to be removed. */
  | {
      readonly kind: 'not-candidates';
      readonly shoot: string;
      readonly nodes: readonly number[];
      readonly how: 'machine-failed' | 'unmanaged' | 'unhealthy' | 'tainted' | 'deleted';
    }
  | { readonly kind: 'reload'; readonly settings: number }
  /** etcd of one shoot, or of all, is not ready; with `everyMs` it is alternately unready and ready. */
  | { readonly kind: 'etcd'; readonly shoot: string | undefined; readonly everyMs?: number }
  /** The program exits even if its dependencies are ready. */
  | { readonly kind: 'crash'; readonly shoot: string; readonly component: string };

export interface PlannedFault {
  /** Milliseconds from the start. */
  readonly at: number;
  readonly forMs: number;
  readonly fault: Fault;
}

export interface PlannedShoot {
  readonly name: string;
  /** Number of nodes; 0 in a weeder's plan. */
  readonly nodes: number;
  /** The shoot's own node monitor grace period. */
  readonly graceMs?: number;
  /** Replicas by name of Deployment; 0 omits the Deployment. */
  readonly replicas: Readonly<Record<string, number>>;
}

/** A world and its faults: everything that a run depends on. */
export interface Plan {
  /** Number of the plan; also the seed of all random numbers in the world and in the watchdogs. */
  readonly seed: number;
  /** Component that the plan tests. */
  readonly component: 'prober' | 'weeder';
  /** Cluster source of a prober, and of its simulated seed. Default: gardener. */
  readonly source?: Exclude<WorldSource, 'gardener'>;
  /** Settings of a prober that differ from gardenlet's. */
  readonly settings?: Partial<ProberSettings>;
  /** Mode of a prober's external probe. Absent if there is none. */
  readonly outside?: ExternalProbeMode;
  /** Duration of a weeding, in a weeder's plan. */
  readonly watchDurationMs?: number;
  /** Time in which the seed observes a changed Deployment. Default: at once. */
  readonly observeMs?: number;
  readonly shoots: readonly PlannedShoot[];
  readonly replicas: number;
  readonly elected: boolean;
  readonly dryRun: boolean;
  /** Maximum latency of a request. */
  readonly latencyMs: number;
  /** All faults begin and end before this time. The quiet time for the recovery follows. */
  readonly faultsMs: number;
  /** Minimum length of the quiet time. */
  readonly quietMs: number;
  readonly faults: readonly PlannedFault[];
}
