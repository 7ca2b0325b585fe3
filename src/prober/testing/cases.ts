import { ApiError, type ApiErrorCode } from '../../kubernetes/api/errors.ts';
import type { ResourceRef } from '../../kubernetes/api/resource-ref.ts';
import type { Verdict } from '../judge/verdict.ts';
import type { Direction, Scope } from '../plan/moves.ts';
import type { Action } from '../plan/operation.ts';
import type { DependentResource, ScaleInfo } from '../settings.ts';
import type { ModelObject } from './seed-model.ts';

/** What becomes of one request. */
export interface Fate {
  /** Milliseconds until it is answered; it takes effect half-way. */
  readonly latencyMs: number;
  readonly error?: ApiErrorCode;
  readonly retryAfterMs?: number;
  /** With `error`: the rate limit did not let it through. */
  readonly heldBack?: true;
  /** The write takes effect, only its answer is lost. */
  readonly landed?: boolean;
  /** Somebody else touches the object right before: a write meets a conflict. */
  readonly interference?: Partial<ModelObject>;
}

export interface LogEntry {
  readonly at: number;
  readonly flow: number;
  readonly direction: Direction;
  readonly scope: Scope;
  readonly action: Action;
}

export const failedVerdict: Verdict = {
  kind: 'failed',
  failure: 'api_server_unreachable',
  error: new ApiError({ code: 'ConnectionError', message: 'no answer' }),
};

export const instant: ScaleInfo = { level: 0, initialDelayMs: 0, timeoutMs: 30_000 };

export const dependent = (
  ref: ResourceRef,
  given: {
    readonly up?: Partial<ScaleInfo>;
    readonly down?: Partial<ScaleInfo> | null;
    readonly optional?: boolean;
  } = {},
): DependentResource => ({
  ref,
  optional: given.optional ?? false,
  scaleUp: { ...instant, ...given.up },
  ...(given.down === null ? {} : { scaleDown: { ...instant, ...given.down } }),
});

export const downVerdict: Verdict = { kind: 'unhealthy', crossedAt: 0 };
export const upVerdict: Verdict = { kind: 'healthy', scope: 'all' };
export const upHeldVerdict: Verdict = { kind: 'healthy', scope: 'held' };

/** What was sent, in few words: `120 kube-controller-manager object=0`. */
export const tell = (log: readonly LogEntry[]): readonly string[] =>
  log.map(({ at, action }) => {
    const name = action.key.slice(action.key.lastIndexOf('/') + 1);
    if (action.kind === 'read') return `${String(at)} ${name} read`;
    const { kind, replicas } = action.write;
    return `${String(at)} ${name} ${kind}${replicas === undefined ? '' : `=${String(replicas)}`}`;
  });

/** One verdict, of a run that ends at 100 ms; all later runs fail. */
export const once =
  (verdict: Verdict) =>
  (now: number): Verdict | undefined =>
    now === 0 ? verdict : undefined;
