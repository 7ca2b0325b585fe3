import {
  meltdownProtectionAnnotation as active,
  replicasAnnotation as replicasKey,
} from '../../annotations/scaling-annotations.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import type { ResourceRef } from '../../kubernetes/api/resource-ref.ts';
import {
  type ResourceState,
  type ScalableObject,
  isPatchableWorkload,
  scaledState,
  stateInObject,
} from '../../kubernetes/api/scalable.ts';
import type { DependentResource, ScaleInfo } from '../config/settings.ts';
import type { Verdict } from '../judge/judgement.ts';

export const deployment = (name: string): ResourceRef => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });
export const etcd = (name: string): ResourceRef => ({
  apiVersion: 'druid.gardener.cloud/v1alpha1',
  kind: 'Etcd',
  name,
});

const instant: ScaleInfo = { level: 0, initialDelayMs: 0, timeoutMs: 30_000 };

/** Dependent resource that is scaled at once in both directions; `down: null`: only up. */
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

/** A scalable object. The count of a custom kind is visible only in its Scale. */
export interface ObjectInit {
  readonly ref: ResourceRef;
  readonly annotations: Readonly<Record<string, string>>;
  readonly replicas: number;
  readonly ready: number;
  readonly version: number;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly replicasManager?: string;
}

/** Builds an object that is scaled up and ready by default. */
export const objectOf = (ref: ResourceRef, given: Partial<Omit<ObjectInit, 'ref'>> = {}): ObjectInit => {
  const { replicas = 1, generation = 1 } = given;
  const ordinary = { annotations: {}, replicas, ready: replicas, version: 1, generation };
  return { ...ordinary, observedGeneration: generation, ...given, ref };
};

/** Object that we hold, with 3 replicas before. */
export const heldObject = (ref: ResourceRef): ObjectInit =>
  objectOf(ref, { annotations: { [active]: '', [replicasKey]: '3' }, replicas: 0 });

export const scalableOf = (object: ObjectInit): ScalableObject => ({
  meta: {
    name: object.ref.name,
    namespace: 'shoot',
    uid: '',
    resourceVersion: String(object.version),
    generation: object.generation,
    labels: {},
    annotations: object.annotations,
    deleting: false,
  },
  readyReplicas: object.ready,
  replicasManager: object.replicasManager,
  observedGeneration: object.observedGeneration,
  ...(isPatchableWorkload(object.ref) ? { specReplicas: object.replicas } : {}),
});

export const stateOf = (object: ObjectInit): ResourceState => {
  const scalable = scalableOf(object);
  const { resourceVersion } = scalable.meta;
  const scale = { resourceVersion, specReplicas: object.replicas, statusReplicas: object.ready };
  return stateInObject(scalable, object.ref) ?? scaledState(scalable, scale);
};

export const downVerdict: Verdict = { kind: 'unhealthy', crossedAt: 0, graceEndsAt: 10_000 };
export const upVerdict: Verdict = { kind: 'healthy' };
export const failedVerdict: Verdict = {
  kind: 'failed',
  failure: 'api_server_unreachable',
  error: new ApiError({ code: 'ConnectionError', message: 'no answer' }),
};
