import { ignoreScalingAnnotation } from '../../annotations/scaling-annotations.ts';
import type { ApiError } from '../../kubernetes/api/errors.ts';
import { type Direction, type Write, effectOf, unknownManager } from '../scale/patch-plan.ts';
import type { EventOf } from './events.ts';

/** A request that changes one resource, as far as the API server has answered it. */
export interface EndedWrite {
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
}

/** Returns the write that a response answers, in the words that log, Events and state share; undefined if it answers a read. */
export const writeIn = ({ scaling, action, outcome }: EventOf<'response-received'>): EndedWrite | undefined => {
  if (action.kind !== 'write') return undefined;
  const { direction, reason } = scaling;
  const { write } = action;
  const { replicas, undoes } = write;
  const from = write.base.specReplicas;
  const effect = effectOf(write);
  return {
    direction,
    reason,
    effect,
    act: effect === undefined ? 'annotated' : `scaled ${effect}`,
    counts: effect && `from ${String(from)} to ${String(replicas)} replicas`,
    write,
    undone: undoes === undefined ? undefined : { manager: undoes, message: undoneMessage(undoes, from, reason) },
    error: outcome.result.ok ? undefined : outcome.result.error,
  };
};

const undoneMessage = (manager: string, from: number, reason: string): string => {
  const writer = manager === unknownManager ? 'another writer' : manager;
  const change = `Undid ${writer}, who had set replicas to ${String(from)}: ${reason}`;
  return `${change}. The annotation ${ignoreScalingAnnotation}=true keeps the dependency-watchdog off.`;
};
