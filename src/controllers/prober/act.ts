import {
  ApiError,
  type ResourceState,
  type ScaleTarget,
  getScalable,
  getScale,
  patchScalable,
  patchScale,
  scaledState,
  scalesInOneWrite,
  workloadState,
} from '../../domain/index.ts';
import type { KubeClient, Leadership } from '../../ports/index.ts';
import type { Write } from './moves.ts';
import type { Action, Outcome } from './operation.ts';

export interface ActDeps {
  readonly seed: KubeClient;
  readonly leadership: Leadership;
}

export interface ActRequest {
  readonly action: Action;
  readonly target: ScaleTarget;
  /** Ends a read. A write that was sent is awaited, bounded by its time-out: whoever asks must know whether it landed. */
  readonly signal: AbortSignal;
}

/** Of one request to the seed. A connection that hangs must leave time for another try before KCM acts. */
const requestTimeoutMs = 5_000;
/** A Scale and its object are read one after the other; a change in between shows in their versions. */
const consistentReadTries = 3;

/** Sends the one request of an action. Rejects only with `signal.reason`, and only for reads. */
export const act = async (deps: ActDeps, request: ActRequest): Promise<Outcome> => {
  const { action, target, signal } = request;
  try {
    const value = action.kind === 'read' ? await read(deps, target, signal) : await write(deps, target, action.write);
    return { key: action.key, result: { ok: true, value } };
  } catch (error) {
    if (action.kind === 'read') signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return { key: action.key, result: { ok: false, error } };
  }
};

const read = async (
  { seed }: ActDeps,
  target: ScaleTarget,
  signal: AbortSignal,
): Promise<ResourceState | undefined> => {
  const options = { signal, timeoutMs: requestTimeoutMs };
  for (let tries = 1; ; tries += 1) {
    try {
      const { value: object } = await seed.call(getScalable(target), options);
      if (scalesInOneWrite(target.ref)) return workloadState(object);
      const { value: scale } = await seed.call(getScale(target), options);
      const isConsistent = scale.resourceVersion === object.meta.resourceVersion;
      if (isConsistent || tries === consistentReadTries) return scaledState(object, scale);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'NotFound') return undefined;
      throw error;
    }
  }
};

const write = async ({ seed, leadership }: ActDeps, target: ScaleTarget, change: Write): Promise<ResourceState> => {
  if (!leadership.mayWrite()) {
    throw new ApiError({
      code: 'Rejected',
      message: `not written: ${target.ref.kind} ${target.ref.name}: no longer the leader`,
    });
  }
  const options = { signal: new AbortController().signal, timeoutMs: requestTimeoutMs };
  const { base, replicas } = change;
  if (change.kind === 'scale' && replicas !== undefined) {
    const { value } = await seed.call(patchScale(target, { resourceVersion: base.resourceVersion, replicas }), options);
    return { ...base, resourceVersion: value.resourceVersion, specReplicas: value.specReplicas };
  }
  const annotations = change.annotations ?? {};
  const patch = { resourceVersion: base.resourceVersion, annotations, ...(replicas === undefined ? {} : { replicas }) };
  const { value: object } = await seed.call(patchScalable(target, patch), options);
  if (scalesInOneWrite(target.ref)) return workloadState(object);
  return { ...base, resourceVersion: object.meta.resourceVersion, annotations: object.meta.annotations };
};
