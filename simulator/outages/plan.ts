import type { ExternalProbeMode } from '../../src/prober/index.ts';
import type { WorldSource } from '../world/index.ts';

/** How an API server fails those who ask it. `refused` and `silent` hold for everybody, the others for watchdogs alone. */
export type ApiFault =
  | { readonly how: 'refused' }
  | { readonly how: 'silent' }
  | { readonly how: 'slow'; readonly delayMs: number }
  | { readonly how: 'status'; readonly status: 401 | 403 | 429 | 500 | 503; readonly retryAfter?: number }
  /** A part of all requests: reset, refused or without an answer. */
  | { readonly how: 'flaky'; readonly part: number };

/** `seed`, the name of a shoot, or `outside`: the public ways of all shoots, as we take them. */
export type ServerName = string;

/** What a service's second EndpointSlice may hold, besides endpoints that are ready. */
export type SliceContent = 'unready' | 'terminating' | 'silent about readiness' | 'empty';

/** Pods besides those of the control plane, all of which crash-loop. */
export type StrayPod =
  /** A dependant that no controller would bring back. */
  | 'unowned'
  /** Depends on nothing that is weeded. */
  | 'stranger'
  /** A dependant whose init container crash-loops. */
  | 'init'
  /** A dependant, one of whose containers works. */
  | 'sidecar';

/** What goes wrong for a while. Shoots, nodes and replicas go by name and number, so that a fault stays meaningful when others are left out. */
export type Fault =
  /** No kubelet reaches its API server: of one shoot, or of the whole seed. Nor does anybody else by the public way. */
  | { readonly kind: 'load-balancer'; readonly shoot: string | undefined; readonly how: 'refused' | 'silent' }
  /** The public way is broken for us, and for nobody else. */
  | { readonly kind: 'public-way'; readonly shoot: string | undefined; readonly how: 'refused' | 'silent' }
  /** Some nodes cannot get out. */
  | { readonly kind: 'nat-gateway'; readonly shoot: string; readonly nodes: readonly number[] }
  | { readonly kind: 'api-server'; readonly server: ServerName; readonly trouble: ApiFault }
  /** Packets of one replica vanish on the way to a server. */
  | { readonly kind: 'partition'; readonly replica: number; readonly server: ServerName }
  | { readonly kind: 'dns'; readonly replica: number; readonly server: ServerName }
  /** Writes are done, and their answers never arrive. */
  | { readonly kind: 'lost-answers'; readonly how: 'reset' | 'drop'; readonly part: number }
  | { readonly kind: 'compaction' }
  | { readonly kind: 'node-clock'; readonly shoot: string; readonly nodes: readonly number[]; readonly ms: number }
  | { readonly kind: 'watchdog-clock'; readonly replica: number; readonly ms: number }
  | { readonly kind: 'api-server-clock'; readonly server: ServerName; readonly ms: number }
  /**
   * `expired`: rotated, and only published when the fault ends; `rotated`: at once; `broken`: no kubeconfig at all; `missing`: no Secret; `replaced`: rotated, in another
   * Secret of the same name.
   */
  | {
      readonly kind: 'credentials';
      readonly shoot: string;
      readonly how: 'expired' | 'rotated' | 'broken' | 'missing' | 'replaced';
    }
  | { readonly kind: 'kill'; readonly replica: number }
  | { readonly kind: 'stop'; readonly replica: number }
  | { readonly kind: 'pause'; readonly replica: number }
  /** Something scales a Deployment again and again, but never from 0. */
  | { readonly kind: 'autoscaler'; readonly shoot: string; readonly deployment: string; readonly everyMs: number }
  | { readonly kind: 'ignore-scaling'; readonly shoot: string; readonly deployment: string }
  /** An operator pauses a shoot, with those that share its namespace, or all; `expires`: until it ends, and not until it is taken back. */
  | {
      readonly kind: 'protection-pause';
      readonly shoot: string | undefined;
      readonly neighbours?: readonly string[];
      readonly ms: number;
      readonly expires: boolean;
    }
  | { readonly kind: 'hibernation'; readonly shoot: string }
  | { readonly kind: 'deletion'; readonly shoot: string }
  | { readonly kind: 'no-workers'; readonly shoot: string }
  /** With Cluster API it is made again in the end. */
  | { readonly kind: 'cluster-gone'; readonly shoot: string }
  | { readonly kind: 'cluster-paused'; readonly shoot: string; readonly how: 'spec' | 'annotation' }
  /** Its control plane is not initialized yet, it says. */
  | { readonly kind: 'uninitialized'; readonly shoot: string }
  /** For good; what is in it goes later. */
  | { readonly kind: 'namespace-deletion'; readonly shoot: string }
  /** Nodes that their machines' controller has given up, that are no longer its own, or that are about to go: no candidates. */
  | {
      readonly kind: 'not-candidates';
      readonly shoot: string;
      readonly nodes: readonly number[];
      readonly how: 'machine-failed' | 'machine-deleting' | 'unmanaged' | 'unhealthy' | 'tainted' | 'deleted';
    }
  | { readonly kind: 'reload'; readonly settings: number }
  /** Etcd is not ready: of one shoot, or of the whole seed; with `everyMs` it comes and goes. */
  | { readonly kind: 'etcd'; readonly shoot: string | undefined; readonly everyMs?: number }
  /** The program exits whatever is there. */
  | { readonly kind: 'crash'; readonly shoot: string; readonly component: string }
  /** A service has a second EndpointSlice, which is ready every other time. */
  | {
      readonly kind: 'second-slice';
      readonly shoot: string;
      readonly service: string;
      readonly everyMs: number;
      readonly otherwise: SliceContent;
    }
  /** Its slices are gone for a while. */
  | { readonly kind: 'no-slices'; readonly shoot: string; readonly service: string }
  | { readonly kind: 'stray-pod'; readonly shoot: string; readonly what: StrayPod };

export interface PlannedFault {
  /** Milliseconds from the start. */
  readonly at: number;
  readonly forMs: number;
  readonly fault: Fault;
}

export interface PlannedShoot {
  readonly name: string;
  /** Of a cluster of Cluster API. */
  readonly place?: { readonly namespace: string; readonly cluster: string };
  /** Of a weeder's shoot: none. */
  readonly nodes: number;
  /** The shoot's own node monitor grace period. */
  readonly graceMs?: number;
  /** By name; 0 leaves it out. */
  readonly replicas: Readonly<Record<string, number>>;
}

/** A world and what happens in it: all that a run depends on. */
export interface Plan {
  /** The number it was made from; also decides what is random in the world and in the watchdogs. */
  readonly seed: number;
  /** What kind of watchdog it is about. */
  readonly component: 'prober' | 'weeder';
  /** Of a prober: how it finds its clusters, in a seed that is made for it. Default: gardener. */
  readonly source?: Exclude<WorldSource, 'gardener'>;
  /** Of a prober: the outside path is tried, and what for. */
  readonly outside?: ExternalProbeMode;
  /** Of a weeder: how long a weeding lasts. */
  readonly watchDurationMs?: number;
  /** Of a weeder: pods start, and exit, within a second or two. */
  readonly quickPods?: boolean;
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
