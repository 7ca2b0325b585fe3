import { ApiError, type ApiErrorCode } from '../../kubernetes/api/errors.ts';
import type { ResourceRef } from '../../kubernetes/api/resource-ref.ts';
import type { Verdict } from '../judge/judgement.ts';
import type { Direction, ScalingScope } from '../scale/patch-plan.ts';
import type { Action } from '../scale/operation.ts';
import type { DependentResource, ScaleInfo } from '../config/settings.ts';
import type { ModelObject } from './seed-model.ts';

/** Outcome of one request. */
export interface RequestFate {
  /** Time until the response, in milliseconds. The request takes effect half-way. */
  readonly latencyMs: number;
  readonly error?: ApiErrorCode;
  readonly retryAfterMs?: number;
  /** With `error`: the rate limit held the request back. */
  readonly rateLimited?: true;
  /** True if the write takes effect and only its response is lost. */
  readonly landed?: boolean;
  /** Change by another writer right before the request, so that a write gets a conflict. */
  readonly interference?: Partial<ModelObject>;
}

export interface LogEntry {
  readonly at: number;
  readonly direction: Direction;
  readonly scope: ScalingScope;
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

export const downVerdict: Verdict = { kind: 'unhealthy', crossedAt: 0, graceEndsAt: 10_000 };
export const upVerdict: Verdict = { kind: 'healthy', scope: 'all' };
export const upHeldVerdict: Verdict = { kind: 'healthy', scope: 'held' };

/** A request of the log. `patch` changes the count in the object, `scale` through the subresource, `mark` only annotations. */
export interface LoggedRequest {
  readonly at: number;
  readonly name: string;
  readonly kind: 'read' | 'mark' | 'patch' | 'scale';
  readonly replicas?: number;
}

export const readAt = (at: number, name: string): LoggedRequest => ({ at, name, kind: 'read' });
export const markAt = (at: number, name: string): LoggedRequest => ({ at, name, kind: 'mark' });
export const patchAt = (at: number, name: string, replicas: number): LoggedRequest => ({
  at,
  name,
  kind: 'patch',
  replicas,
});
export const scaleAt = (at: number, name: string, replicas: number): LoggedRequest => ({
  at,
  name,
  kind: 'scale',
  replicas,
});

/** Returns the requests of the log, in their order. */
export const requestsIn = (log: readonly LogEntry[]): readonly LoggedRequest[] =>
  log.map(({ at, action }) => {
    const name = action.key.slice(action.key.lastIndexOf('/') + 1);
    if (action.kind === 'read') return readAt(at, name);
    const { kind, replicas } = action.write;
    if (replicas === undefined) return markAt(at, name);
    return kind === 'scale' ? scaleAt(at, name, replicas) : patchAt(at, name, replicas);
  });

/** Verdict of the first run only, which ends at 100 ms; all later runs fail. */
export const once =
  (verdict: Verdict) =>
  (now: number): Verdict | undefined =>
    now === 0 ? verdict : undefined;
