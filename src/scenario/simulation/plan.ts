/** How an API server fails those who ask it. `refused` and `silent` hold for everybody, the others for watchdogs alone. */
export type ApiTrouble =
  | { readonly how: 'refused' }
  | { readonly how: 'silent' }
  | { readonly how: 'slow'; readonly delayMs: number }
  | { readonly how: 'status'; readonly status: 401 | 403 | 429 | 500 | 503; readonly retryAfter?: number }
  /** A part of all requests: reset, refused or without an answer. */
  | { readonly how: 'flaky'; readonly part: number };

/** `seed`, or the name of a shoot. */
export type ServerName = string;

/** What goes wrong for a while. Shoots, nodes and replicas go by name and number, so that a fault stays meaningful when others are left out. */
export type Fault =
  /** No kubelet reaches its API server: of one shoot, or of the whole seed. */
  | { readonly kind: 'load-balancer'; readonly shoot: string | undefined }
  /** Some nodes cannot get out. */
  | { readonly kind: 'nat-gateway'; readonly shoot: string; readonly nodes: readonly number[] }
  | { readonly kind: 'api-server'; readonly server: ServerName; readonly trouble: ApiTrouble }
  /** Packets of one replica vanish on the way to a server. */
  | { readonly kind: 'partition'; readonly replica: number; readonly server: ServerName }
  | { readonly kind: 'dns'; readonly replica: number; readonly server: ServerName }
  /** Writes are done, and their answers never arrive. */
  | { readonly kind: 'lost-answers'; readonly how: 'reset' | 'drop'; readonly part: number }
  | { readonly kind: 'compaction' }
  | { readonly kind: 'node-clock'; readonly shoot: string; readonly nodes: readonly number[]; readonly ms: number }
  | { readonly kind: 'watchdog-clock'; readonly replica: number; readonly ms: number }
  | { readonly kind: 'api-server-clock'; readonly server: ServerName; readonly ms: number }
  /** `expired`: rotated, and only published when the fault ends; `rotated`: at once; `broken`: no kubeconfig at all. */
  | { readonly kind: 'credentials'; readonly shoot: string; readonly how: 'expired' | 'rotated' | 'broken' | 'missing' }
  | { readonly kind: 'kill'; readonly replica: number }
  | { readonly kind: 'stop'; readonly replica: number }
  | { readonly kind: 'pause'; readonly replica: number }
  /** Something scales a Deployment again and again, but never from 0. */
  | { readonly kind: 'autoscaler'; readonly shoot: string; readonly deployment: string; readonly everyMs: number }
  | { readonly kind: 'ignore-scaling'; readonly shoot: string; readonly deployment: string }
  | { readonly kind: 'hibernation'; readonly shoot: string }
  | { readonly kind: 'deletion'; readonly shoot: string }
  | { readonly kind: 'no-workers'; readonly shoot: string }
  | { readonly kind: 'cluster-gone'; readonly shoot: string }
  /** Nodes that their machines' controller has given up, or that are no longer its own: no candidates. */
  | {
      readonly kind: 'not-candidates';
      readonly shoot: string;
      readonly nodes: readonly number[];
      readonly how: 'machine-failed' | 'unmanaged' | 'unhealthy';
    }
  | { readonly kind: 'reload'; readonly settings: number };

export interface PlannedFault {
  /** Milliseconds from the start. */
  readonly at: number;
  readonly forMs: number;
  readonly fault: Fault;
}

export interface PlannedShoot {
  readonly name: string;
  readonly nodes: number;
  /** The shoot's own node monitor grace period. */
  readonly graceMs?: number;
  /** By Deployment; 0 leaves it out. */
  readonly replicas: Readonly<Record<string, number>>;
}

/** A world and what happens in it: all that a run depends on. */
export interface Plan {
  /** The number it was made from; also decides what is random in the world and in the watchdogs. */
  readonly seed: number;
  readonly shoots: readonly PlannedShoot[];
  readonly replicas: number;
  readonly elected: boolean;
  readonly dryRun: boolean;
  /** Longest time that a request is on its way. */
  readonly latencyMs: number;
  /** Faults begin and end before; then comes the quiet in which everything has to heal. */
  readonly troubledMs: number;
  /** Least length of that quiet. */
  readonly quietMs: number;
  readonly faults: readonly PlannedFault[];
}
