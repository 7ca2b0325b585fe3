import type { PlannedFault } from './plan.ts';

/** One process of a replica, from its start to its end: `REPLICA.NUMBER`. It also identifies the holders of the election's Lease. */
export type ProcessName = string;

/** A request of a process, by its number among the requests of that process to that server. */
export interface ExchangeId {
  readonly process: ProcessName;
  readonly server: string;
  readonly id: number;
}

/** The writer of a change: a request of a replica, or another actor of the world. */
export type Writer = ExchangeId | 'world';

export interface DeploymentFacts {
  /** `spec.replicas`. */
  readonly replicas: number;
  readonly ready: number;
  /** True if its controller has observed its latest generation. */
  readonly isObserved: boolean;
  /** Annotation with the replicas before a scale-down. */
  readonly stored: string | undefined;
  /** True if it has the mark of meltdown protection. */
  readonly isHeld: boolean;
  readonly isIgnored: boolean;
}

export interface PodFacts {
  readonly labels: Readonly<Record<string, string>>;
  /** UID of its controller owner, which would replace the pod; undefined if it has none. */
  readonly owner: string | undefined;
  /** True if one of its containers, of any kind, is in CrashLoopBackOff. */
  readonly isCrashLooping: boolean;
  readonly isDeleting: boolean;
}

/**
 * Treatment that the Cluster or Secret of a shoot requires. `run`: the shoot is probed; `release`: marks are removed; `restore`: replicas are
 * restored; `leave`: it is left alone; `missing`: its Secret is absent and may come back; `gone`: its Cluster is deleted.
 */
export type ClusterPhase = 'run' | 'release' | 'restore' | 'leave' | 'missing' | 'gone';

/** Remains of shoots or weedings in an idle process. */
export interface ProcessRemains {
  readonly timers: number;
  readonly requests: number;
  /** Series of its metrics that count probers or weedings and are not 0. */
  readonly counted: readonly string[];
  /** Deleted shoots that its metrics still mention. */
  readonly rememberedShoots: readonly string[];
}

/** Remains after everything was stopped. */
export interface Leftovers {
  readonly timers: number;
  readonly exchanges: number;
  /** Number of processes that received SIGTERM and did not end. */
  readonly processes: number;
}

export type Occurrence =
  | {
      readonly kind: 'lease';
      readonly shoot: string;
      readonly node: string;
      readonly exists: boolean;
      /** Time of the renewal if it is not now: a world starts with leases that were renewed before. */
      readonly since?: number;
    }
  | {
      readonly kind: 'node';
      readonly shoot: string;
      readonly node: string;
      /** Absent once the node is deleted. */
      readonly facts?: { readonly isCandidate: boolean; readonly isUnknown: boolean } | undefined;
    }
  | { readonly kind: 'machine'; readonly shoot: string; readonly node: string; readonly isAlive: boolean }
  | {
      readonly kind: 'deployment';
      readonly shoot: string;
      readonly name: string;
      readonly before?: DeploymentFacts | undefined;
      readonly after?: DeploymentFacts | undefined;
      readonly writer: Writer;
    }
  | {
      readonly kind: 'pod';
      readonly shoot: string;
      readonly name: string;
      readonly uid: string;
      readonly before?: PodFacts | undefined;
      readonly after?: PodFacts | undefined;
      readonly writer: Writer;
    }
  /** The EndpointSlices of a service have changed. */
  | { readonly kind: 'service'; readonly shoot: string; readonly name: string; readonly isReady: boolean }
  | { readonly kind: 'cluster'; readonly shoot: string; readonly phase: ClusterPhase }
  /** The Lease of the election changed, or was renewed. */
  | { readonly kind: 'leader'; readonly holder: string; readonly writer: Writer }
  | { readonly kind: 'fault'; readonly phase: 'begins' | 'ends'; readonly planned: PlannedFault }
  | {
      readonly kind: 'process';
      readonly process: ProcessName;
      readonly what: 'starts' | 'is killed' | 'is paused' | 'goes on' | 'receives SIGTERM' | 'has ended';
      /** Number of timers and requests that it held when it had ended. */
      readonly held?: number;
    }
  | {
      readonly kind: 'request';
      readonly stage: 'sent' | 'served' | 'answered' | 'failed';
      readonly exchange: ExchangeId;
      readonly verb: string;
      readonly resource: string;
      /** Shoot of the requested object, and the object's name. */
      readonly shoot?: string;
      readonly name?: string;
      readonly status?: number;
      /** Preconditions of a delete. */
      readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
      /** True if the failure shows that the server's side is down, not ours. Absent if the caller gave up. */
      readonly isServerDown?: boolean;
      /** True if the request failed on an established connection. */
      readonly isConnected?: boolean;
    }
  /** All faults are over. */
  | { readonly kind: 'healed' }
  /** The time for the recovery is over. */
  | { readonly kind: 'settled' }
  /** All shoots are deleted, or all weedings are over, so the process is idle: the remains that it still holds. */
  | { readonly kind: 'at rest'; readonly process: ProcessName; readonly held: ProcessRemains }
  | { readonly kind: 'tick' }
  | { readonly kind: 'over'; readonly leftovers: Leftovers };

/** `at`: milliseconds from the start. Events are recorded at the API servers and the simulated processes, never taken from a watchdog's output. */
export type SimEvent = Occurrence & { readonly at: number };
