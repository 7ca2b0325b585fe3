import { ignoreScalingAnnotation } from '../../annotations/scaling-annotations.ts';
import type { ApiError } from '../../kubernetes/api/errors.ts';
import { maxAttempts } from '../scale/operation.ts';
import { type Direction, type Write, effectOf, unknownManager } from '../scale/patch-plan.ts';
import type { Scaling } from '../scale/scaling.ts';
import type { EventOf, ReceivedResponse } from './events.ts';

// What runs, scalings and responses say, in the words that log, Events and state share.

/** A request that changes one resource, as far as the API server has answered it. */
export interface EndedWrite {
  /** `refKey` of the resource. */
  readonly resource: string;
  readonly direction: Direction;
  /** Explanation of the verdict, or of the end of probing. */
  readonly reason: string;
  /** What the write does to the count. Absent: it changes only annotations. */
  readonly effect?: 'down' | 'up';
  /** Such as `scaled down`. */
  readonly act: 'annotated' | 'scaled down' | 'scaled up';
  /** Such as `from 2 to 0 replicas`. Absent as `effect` is. */
  readonly counts?: string;
  readonly write: Write;
  /** The writer whose count was overwritten, and what to do about it. */
  readonly undone?: { readonly manager: string; readonly message: string };
  /** Absent: the write was accepted. */
  readonly error?: ApiError;
  /** True if the operation retries beyond its ordinary attempts, which were reported. */
  readonly isRetriedOn: boolean;
}

/** Returns the write that a response answers; undefined if it answers a read. */
export const writeIn = ({ scaling, action, outcome }: ReceivedResponse): EndedWrite | undefined => {
  if (action.kind !== 'write') return undefined;
  const { direction, reason, operations } = scaling;
  const { write } = action;
  const { replicas, undoes } = write;
  const from = write.base.specReplicas;
  const effect = effectOf(write);
  return {
    resource: outcome.key,
    direction,
    reason,
    effect,
    act: effect === undefined ? 'annotated' : `scaled ${effect}`,
    counts: effect && `from ${String(from)} to ${String(replicas)} replicas`,
    write,
    undone: undoes === undefined ? undefined : { manager: undoes, message: undoneMessage(undoes, from, reason) },
    error: outcome.result.ok ? undefined : outcome.result.error,
    isRetriedOn: operations.some(({ key, attempts }) => key === action.key && attempts >= maxAttempts),
  };
};

const undoneMessage = (manager: string, from: number, reason: string): string => {
  const writer = manager === unknownManager ? 'another writer' : manager;
  const change = `Undid ${writer}, who had set replicas to ${String(from)}: ${reason}`;
  return `${change}. The annotation ${ignoreScalingAnnotation}=true keeps the dependency-watchdog off.`;
};

/** How the scaling of one resource has ended. */
export interface EndedOperation {
  readonly resource: string;
  /** `failed`, or the outcome. */
  readonly result: string;
  readonly error?: string;
  readonly seconds: number;
}

/** Returns the operations of a scaling that are over. */
export const endedOperations = ({ operations }: Scaling, now: number): readonly EndedOperation[] =>
  operations.flatMap(({ phase, key: resource, startedAt }): readonly EndedOperation[] => {
    const seconds = (now - startedAt) / 1_000;
    if (phase.kind === 'failed') return [{ resource, result: 'failed', error: phase.error.message, seconds }];
    return phase.kind === 'done' ? [{ resource, result: phase.outcome, seconds }] : [];
  });

/** Returns what to tell if a shoot begins to flap with this run. */
export const flappingIn = ({ result, before }: EventOf<'run-ended'>): string | undefined =>
  result.decision.memory.outage?.isFlapping === true && before.probe.outage?.isFlapping !== true
    ? 'flapping: an outage came within ten minutes of the restoration, so the next one waits for longer'
    : undefined;

/** What was told last about each cluster, by topic, so that only news is told. */
export class Told {
  readonly #told = new Map<string, Map<string, string | true>>();

  /** True if the value differs from the latest of this topic. undefined: there is nothing to tell. */
  isNews(cluster: string, topic: string, value: string | true | undefined): boolean {
    const topics = this.#told.get(cluster) ?? new Map<string, string | true>();
    const before = topics.get(topic);
    if (value === undefined) topics.delete(topic);
    else topics.set(topic, value);
    if (topics.size === 0) this.#told.delete(cluster);
    else this.#told.set(cluster, topics);
    return before !== value;
  }

  forget(cluster: string): void {
    this.#told.delete(cluster);
  }
}
