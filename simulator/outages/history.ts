import type { PlannedFault } from './plan.ts';

/** One process of a replica, from its start to its end: `REPLICA.NUMBER`. It also identifies the holders of the election's Lease. */
export type ProcessName = string;

/** The writer of a change: a process, with the time at which it sent the request, or another actor of the world. */
export type Writer = { readonly process: ProcessName; readonly sentAt: number } | 'world';

export interface DeploymentFacts {
  /** `spec.replicas`. */
  readonly replicas: number;
  /** Annotation with the replicas before a scale-down. */
  readonly stored: string | undefined;
  /** True if it has the annotation of meltdown protection. */
  readonly isHeld: boolean;
  readonly isIgnored: boolean;
}

/**
 * Treatment that the Cluster or Secret of a shoot requires. `run`: the shoot is probed; `release`: annotations are removed; `restore`: replicas are
 * restored; `leave`: it is left alone; `missing`: its Secret is absent and may come back.
 */
export type ClusterPhase = 'run' | 'release' | 'restore' | 'leave' | 'missing';

/** Remains of shoots or weedings in an idle process. */
export interface ProcessRemains {
  readonly timers: number;
  readonly requests: number;
  /** Series of its metrics that count probers or weedings and are not 0, and deleted shoots that its metrics still mention. */
  readonly remembered: readonly string[];
}

/** Remains after everything was stopped: `processes` received SIGTERM and did not end. */
export type Leftovers = Readonly<Record<'timers' | 'requests' | 'processes', number>>;

export type Occurrence =
  /** `since`: time of the renewal if it is not now, because a world starts with leases that were renewed before. */
  | { readonly kind: 'lease'; readonly shoot: string; readonly node: string; readonly since?: number }
  /** KCM has marked the node Unknown. */
  | { readonly kind: 'node given up'; readonly shoot: string; readonly node: string }
  | {
      readonly kind: 'deployment';
      readonly shoot: string;
      readonly name: string;
      readonly before?: DeploymentFacts;
      readonly after?: DeploymentFacts;
      readonly writer: Writer;
    }
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
      readonly process: ProcessName;
      readonly server: string;
      readonly verb: string;
      readonly resource: string;
      /** Shoot of the requested object, and the object's name. */
      readonly shoot?: string;
      readonly name?: string;
      readonly status?: number;
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
