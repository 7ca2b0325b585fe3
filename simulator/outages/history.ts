import type { PlannedFault } from './plan.ts';

/** One life of a replica, from its start to its end: `REPLICA.NUMBER`. It is also how leases of the election are told apart. */
export type Life = string;

/** A request of a life, by its number on the line to that server. */
export interface ExchangeId {
  readonly life: Life;
  readonly server: string;
  readonly id: number;
}

/** Who changed an object: a request of a replica, or something else in the world. */
export type Writer = ExchangeId | 'world';

export interface DeploymentFacts {
  /** `spec.replicas`. */
  readonly replicas: number;
  readonly ready: number;
  /** Its controller has seen its latest generation. */
  readonly isObserved: boolean;
  /** Annotation with the count before a scale-down. */
  readonly stored: string | undefined;
  /** Carries the mark of meltdown protection. */
  readonly isHeld: boolean;
  readonly isIgnored: boolean;
}

export interface PodFacts {
  readonly labels: Readonly<Record<string, string>>;
  /** UID of the controller that makes up for it; undefined: nobody would. */
  readonly owner: string | undefined;
  /** The kubelet keeps one of its containers, of whatever kind, down after a crash. */
  readonly isCrashLooping: boolean;
  readonly isDeleting: boolean;
}

/** What a shoot's Cluster, or Secret, asks of a watchdog: to watch, to give back marks or counts, or to leave alone. `missed`: its Secret is away, and may come back. */
export type ClusterPhase = 'run' | 'release' | 'restore' | 'leave' | 'missed' | 'gone';

/** What is left of shoots, or of weedings, in a process that has nothing to do. */
export interface Held {
  readonly timers: number;
  readonly requests: number;
  /** Series of its metrics that count probers or weedings and are not 0. */
  readonly counted: readonly string[];
  /** Shoots without a Cluster that its metrics still tell of. */
  readonly rememberedShoots: readonly string[];
}

/** What is left when everything was stopped. */
export interface Leftovers {
  readonly timers: number;
  readonly exchanges: number;
  /** Processes that were told to stop. */
  readonly processes: number;
}

export type Occurrence =
  | {
      readonly kind: 'lease';
      readonly shoot: string;
      readonly node: string;
      readonly exists: boolean;
      /** When it was renewed, if not now: of the past that a world has at its start. */
      readonly since?: number;
    }
  | {
      readonly kind: 'node';
      readonly shoot: string;
      readonly node: string;
      /** Absent once the node is gone. */
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
  /** Its EndpointSlices have changed. */
  | { readonly kind: 'service'; readonly shoot: string; readonly name: string; readonly isReady: boolean }
  | { readonly kind: 'cluster'; readonly shoot: string; readonly phase: ClusterPhase }
  /** The Lease of the election changed, or was renewed. */
  | { readonly kind: 'leader'; readonly holder: string; readonly writer: Writer }
  | { readonly kind: 'fault'; readonly phase: 'begins' | 'ends'; readonly planned: PlannedFault }
  | {
      readonly kind: 'process';
      readonly life: Life;
      readonly what: 'starts' | 'is killed' | 'is paused' | 'goes on' | 'is told to stop' | 'has ended';
      /** Timers and requests that it held when it ended by itself. */
      readonly held?: number;
    }
  | {
      readonly kind: 'request';
      readonly stage: 'sent' | 'served' | 'answered' | 'failed';
      readonly exchange: ExchangeId;
      readonly verb: string;
      readonly resource: string;
      /** Shoot that it is about, and the object's name. */
      readonly shoot?: string;
      readonly name?: string;
      readonly status?: number;
      /** Of a delete: what it is to hold for. */
      readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
      /** Of a failure: it says that the server's side is down, not ours. Absent: whoever asked gave up. */
      readonly isDark?: boolean;
      /** Of a failed one: a connection stood. */
      readonly isConnected?: boolean;
    }
  /** No fault is left. */
  | { readonly kind: 'healed' }
  /** The world has had its time to heal. */
  | { readonly kind: 'settled' }
  /** All shoots are gone, or no weeding is left, and nothing happens any more: what a process holds all the same. */
  | { readonly kind: 'at rest'; readonly life: Life; readonly held: Held }
  | { readonly kind: 'tick' }
  | { readonly kind: 'over'; readonly leftovers: Leftovers };

/** Milliseconds from the start; recorded at the API servers and at the machines, never taken from what a watchdog says. */
export type SimEvent = Occurrence & { readonly at: number };
