import type { ProbingEnd } from '../clusters/lifecycle.ts';
import type { AttemptResult, ExternalProbeHistory, Reachability } from '../judge/external-probe.ts';
import type { ProbeMemory, ProbeSettings, Verdict } from '../judge/judgement.ts';
import type { PauseChange } from '../scale/pauses.ts';
import type { Action, ActionResponse } from '../scale/operation.ts';
import type { Scaling } from '../scale/scaling.ts';
import type { ShootProberState } from '../scale/advance-shoot.ts';
import type { ProbeResult } from '../observe/probe.ts';
import type { RefTemplate } from '../config/ref-template.ts';
import type {
  HeldInShoot,
  IgnoredResource,
  ResourceInShoot,
  ShootAccess,
  ShootTold,
} from '../../status/state/schema.ts';

/** What the watches and our own writes show of a cluster's dependent resources. */
export interface DependentFacts {
  /** Resources that are held, with the count to restore. */
  readonly held: readonly HeldInShoot[];
  /** Resources that `ignore-scaling` keeps from being scaled. */
  readonly ignored: readonly IgnoredResource[];
  /** Other resources that are up and that a scale-down would scale down. */
  readonly up: readonly ResourceInShoot[];
  /** Held resources at 0 whose pods still run after their timeout. */
  readonly stillRunning: readonly ResourceInShoot[];
  /** Required resources that do not exist, and those whose kind the seed does not serve. */
  readonly missing: readonly ResourceInShoot[];
  readonly notServed: readonly ResourceInShoot[];
  /** Those of which no watch shows yet whether they are up. */
  readonly unread: readonly ResourceInShoot[];
}

/** The state of a shoot's prober at one moment. */
export interface ShootProberView extends DependentFacts {
  readonly state: ShootProberState;
  readonly settings: ProbeSettings;
  /** What the external probe finds; absent without one. */
  readonly reachability?: Reachability | undefined;
  /** How the API server of the shoot is reached. */
  readonly access: () => ShootAccess;
  /** As in `JudgeContext`. */
  readonly isClusterStale?: boolean | undefined;
}

/** A response to the one request of an action. */
interface ReceivedResponse {
  readonly scaling: Scaling;
  readonly action: Action;
  readonly outcome: ActionResponse;
  /** The resource, with the UID that a watch shows. */
  readonly ref?: RefTemplate;
  readonly uid?: string;
  readonly now: number;
  /** The latest verdict. */
  readonly verdict?: Verdict | undefined;
}

/**
 * What a shoot lacks. `blind`: it cannot be read. `unprotected`: an outage would not be met. `held back`: a pause prevents the scale-down that an outage requires.
 * `late`: an outage has been unmet for five seconds, and nothing is held.
 */
export type Lack = 'blind' | 'unprotected' | 'held back' | 'late';

interface EndedAttempt {
  readonly result: AttemptResult;
  readonly before: ExternalProbeHistory;
  readonly history: ExternalProbeHistory;
}

/** What happens to one cluster. `cluster` is its name, which is that of its namespace in the seed; log and metrics show it as `namespace`. */
type ClusterEvent = { readonly cluster: string } & (
  | { readonly kind: 'probing-started'; readonly delayMs: number }
  | ({ readonly kind: 'probing-stopped' } & ProbingEnd)
  | { readonly kind: 'settings-changed' }
  | { readonly kind: 'cluster-undecodable'; readonly error: Error }
  /** A problem that somebody has to fix although the cluster is probed; absent if there is none. Emitted again and again. */
  | { readonly kind: 'cluster-checked'; readonly problem?: string }
  /** The loop has changed its state. `readView` returns the current one from then on. */
  | { readonly kind: 'stepped'; readonly readView: () => ShootProberView }
  /** `before`: the memory before the run. */
  | { readonly kind: 'run-ended'; readonly result: ProbeResult; readonly before: ProbeMemory }
  /** The shoot begins to lack something, or another thing than before, or nothing any more. */
  | ({ readonly kind: 'lack-changed'; readonly lack?: Lack; readonly former?: Lack } & Pick<ShootTold, 'why' | 'do'>)
  | { readonly kind: 'scaling-started'; readonly scaling: Scaling }
  | ({ readonly kind: 'response-received' } & ReceivedResponse)
  /** The scaling has come to rest, or was no longer desired or allowed. */
  | { readonly kind: 'scaling-ended'; readonly scaling: Scaling; readonly now: number }
  | ({ readonly kind: 'external-probe-attempted' } & EndedAttempt)
  | { readonly kind: 'unexpected-error'; readonly error: unknown }
  /** The cluster is gone or no longer probed: nothing about it is shown any more. */
  | { readonly kind: 'forgotten' }
);

/** What the prober tells about its shoots. The report tells it to people, the state of shoots keeps it; loops and pure folders do nothing else to report. */
export type ProberEvent =
  | ClusterEvent
  | { readonly kind: 'configured'; readonly probeIntervalMs: number }
  | ({ readonly kind: 'pause-changed' } & PauseChange)
  /** The process ends. `held`: numbers of the resources that stay held, by cluster. */
  | { readonly kind: 'ended'; readonly held: ReadonlyMap<string, number> };

/** Tells an event, or observes it. */
export type Emit = (event: ProberEvent) => void;

export type EventOf<Kind extends ProberEvent['kind']> = Extract<ProberEvent, { readonly kind: Kind }>;

/** Returns an observer of the kinds of events for which there is a function. */
export const observer =
  (on: { readonly [Kind in ProberEvent['kind']]?: (event: EventOf<Kind>) => void }): Emit =>
  (event) =>
    (on[event.kind] as Emit | undefined)?.(event);

/** Returns the function that tells each event to all observers, in their order. */
export const emitTo =
  (observers: readonly Emit[]): Emit =>
  (event) => {
    for (const observe of observers) observe(event);
  };
