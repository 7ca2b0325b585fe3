import { ApiError, errorText, unlessNotFound } from '../../kubernetes/api/errors.ts';
import type { CallOptions, KubeClient } from '../../kubernetes/api/kube.ts';
import {
  type ResourceState,
  type ScaleTarget,
  getScalable,
  getScale,
  patchScalable,
  patchScale,
  scaledState,
  stateInObject,
} from '../../kubernetes/api/scalable.ts';
import type { Write } from './patch-plan.ts';
import type { Action, ActionResponse } from './operation.ts';

export interface ProberActDeps {
  /** Client of the seed. It refuses, at the moment of sending, a write that this process may not send. */
  readonly seed: KubeClient;
  /** True if nothing is written: a would-be write counts as done at once. */
  readonly dryRun: boolean;
}

export interface ProberActRequest {
  readonly action: Action;
  readonly target: ScaleTarget;
  /** True if the request must not wait behind the ordinary rate limit, because KCM's clock is running. */
  readonly urgent: boolean;
  /** Aborts a read, and a write that was not sent yet. A write that was sent is awaited: the caller must know if it took effect. */
  readonly signal: AbortSignal;
}

/**
 * Timeout of a request once it is sent, in milliseconds: a connection that hangs must leave time for another attempt before KCM acts, and must not
 * delay a scaling in the opposite direction for long.
 */
const sentTimeoutMs = 5_000;
/** Timeout of an ordinary request, its wait for the rate limit included, in milliseconds. An urgent request does not wait. */
const ordinaryTimeoutMs = 30_000;
/** Attempts to read a Scale and its object in the same version: they are read one after the other, and may change in between. */
const consistentReadTries = 3;

const optionsOf = ({ urgent, signal }: ProberActRequest): CallOptions =>
  urgent
    ? { signal, timeoutMs: sentTimeoutMs, priority: 'urgent', noRetry: true }
    : { signal, timeoutMs: ordinaryTimeoutMs, noRetry: true };

/** Returns the result of a request that ended before its response. */
export const rejected = (cause: unknown): ActionResponse['result'] => {
  const message = errorText(cause);
  return { ok: false, error: new ApiError({ code: 'Rejected', message, cause }) };
};

/** Sends the one request of an action. Rejects with `signal.reason`, only for reads; otherwise only because of a bug. */
export const act = async (deps: ProberActDeps, request: ProberActRequest): Promise<ActionResponse> => {
  const { action, signal } = request;
  try {
    const value = await perform(deps, request);
    return { key: action.key, result: { ok: true, value } };
  } catch (error) {
    if (error instanceof ApiError) return { key: action.key, result: { ok: false, error } };
    if (action.kind === 'read' || !signal.aborted) throw error;
    const unsent = new ApiError({ code: 'Rejected', message: 'not sent: no longer wanted' });
    return { key: action.key, result: { ok: false, error: unsent } };
  }
};

const perform = (deps: ProberActDeps, request: ProberActRequest): Promise<ResourceState | undefined> => {
  const { action } = request;
  if (action.kind === 'read') return unlessNotFound(read(deps, request));
  return deps.dryRun ? Promise.resolve(stateAfter(action.write)) : write(deps, request, action.write);
};

const read = async ({ seed }: ProberActDeps, request: ProberActRequest): Promise<ResourceState> => {
  const { target } = request;
  const options = optionsOf(request);
  for (let attempts = 1; ; attempts += 1) {
    const { value: object } = await seed.call(getScalable(target), options);
    const state = stateInObject(object, target.ref);
    if (state !== undefined) return state;
    const { value: scale } = await seed.call(getScale(target), options);
    const isConsistent = scale.resourceVersion === object.meta.resourceVersion;
    if (isConsistent || attempts === consistentReadTries) return scaledState(object, scale);
  }
};

const write = async ({ seed }: ProberActDeps, request: ProberActRequest, change: Write): Promise<ResourceState> => {
  const { target } = request;
  const options = { ...optionsOf(request), sentTimeoutMs };
  const { base, replicas } = change;
  if (change.kind === 'scale' && replicas !== undefined) {
    const call = patchScale(target, { resourceVersion: base.resourceVersion, replicas });
    const { value } = await seed.call(call, options);
    // The state of pods and controller in `base` is from before this write.
    return { ...base, resourceVersion: value.resourceVersion, specReplicas: value.specReplicas, observed: false };
  }
  const annotations = change.annotations ?? {};
  const call = patchScalable(target, { resourceVersion: base.resourceVersion, annotations, replicas });
  const { value: object } = await seed.call(call, options);
  const state = stateInObject(object, target.ref);
  if (state !== undefined) return state;
  return { ...base, resourceVersion: object.meta.resourceVersion, annotations: object.meta.annotations };
};

/** Returns the state after a simulated write, as if the pods had followed. */
const stateAfter = ({ base, annotations: change = {}, replicas }: Write): ResourceState => {
  const entries = Object.entries({ ...base.annotations, ...change });
  const annotations = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
  return {
    ...base,
    annotations,
    ...(replicas === undefined ? {} : { specReplicas: replicas, readyReplicas: replicas, observed: true }),
  };
};
