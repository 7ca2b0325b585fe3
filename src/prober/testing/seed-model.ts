import { ApiError, type Result } from '../../kubernetes/api/errors.ts';
import { scalingFieldManager } from '../../annotations/scaling-annotations.ts';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import {
  type ResourceState,
  type ScalableObject,
  scaledState,
  isPatchableWorkload,
  stateInObject,
} from '../../kubernetes/api/scalable.ts';
import type { Write } from '../scale/patch-plan.ts';

/** A scalable object as a seed's API server stores it. The count of a custom kind is visible only in its Scale. */
export interface ModelObject {
  readonly ref: ResourceRef;
  readonly annotations: Readonly<Record<string, string>>;
  readonly replicas: number;
  readonly ready: number;
  readonly version: number;
  readonly generation: number;
  /** Undefined for kinds whose status has no such field. */
  readonly observedGeneration: number | undefined;
  readonly replicasManager?: string;
}

export const deployment = (name: string): ResourceRef => ({ apiVersion: 'apps/v1', kind: 'Deployment', name });
export const etcd = (name: string): ResourceRef => ({
  apiVersion: 'druid.gardener.cloud/v1alpha1',
  kind: 'Etcd',
  name,
});

/** Builds an object that is scaled up and ready by default. */
export const objectOf = (ref: ResourceRef, given: Partial<Omit<ModelObject, 'ref'>> = {}): ModelObject => {
  const { replicas = 1, generation = 1 } = given;
  const ordinary = {
    annotations: {},
    replicas,
    ready: replicas,
    version: 1,
    generation,
    observedGeneration: generation,
  };
  return { ...ordinary, ...given, ref };
};

export const scalableOf = (object: ModelObject): ScalableObject => ({
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
  ...(object.observedGeneration === undefined ? {} : { observedGeneration: object.observedGeneration }),
  ...(isPatchableWorkload(object.ref) ? { specReplicas: object.replicas } : {}),
});

export const stateOf = (object: ModelObject): ResourceState => {
  const scale = {
    resourceVersion: String(object.version),
    specReplicas: object.replicas,
    statusReplicas: object.ready,
  };
  const scalable = scalableOf(object);
  return stateInObject(scalable, object.ref) ?? scaledState(scalable, scale);
};

/** The objects of one shoot's namespace, with the behaviour of an API server. */
export interface SeedModel {
  readonly objects: ReadonlyMap<string, ModelObject>;
  get(key: string): ModelObject | undefined;
  read(key: string): ResourceState | undefined;
  /** Returns a conflict unless the object is at the version in `write.base`; otherwise the state that `act` derives from the response. */
  write(key: string, write: Write): Result<ResourceState | undefined, ApiError>;
  /** Changes the object as another writer; undefined deletes it. */
  edit(key: string, change: Partial<ModelObject> | undefined): void;
}

export const createSeedModel = (
  objects: readonly ModelObject[],
  onChange: (key: string, object: ModelObject | undefined) => void = () => undefined,
): SeedModel => {
  const current = new Map(objects.map((object) => [refKey(object.ref), object]));
  let version = Math.max(0, ...objects.map((object) => object.version));

  const put = (key: string, object: ModelObject): ModelObject => {
    version += 1;
    const stored = { ...object, version };
    current.set(key, stored);
    onChange(key, stored);
    return stored;
  };

  const write: SeedModel['write'] = (key, change) => {
    const object = current.get(key);
    if (object === undefined) return { ok: true, value: undefined };
    const { base, annotations = {}, replicas } = change;
    if (base.resourceVersion !== String(object.version)) {
      return { ok: false, error: new ApiError({ code: 'Conflict', message: `${key}: changed meanwhile` }) };
    }
    if (change.kind === 'object' && replicas !== undefined && !isPatchableWorkload(object.ref)) {
      throw new Error(`${key}: its count is not in the object`);
    }
    const marks = Object.entries({ ...object.annotations, ...annotations });
    const stored = put(key, {
      ...object,
      annotations: Object.fromEntries(marks.filter((mark): mark is [string, string] => mark[1] !== null)),
      ...(replicas === undefined || replicas === object.replicas
        ? {}
        : { replicas, generation: object.generation + 1, replicasManager: scalingFieldManager }),
    });
    return { ok: true, value: answerOf(stored, change) };
  };

  return {
    objects: current,
    get: (key) => current.get(key),
    read: (key) => {
      const object = current.get(key);
      return object === undefined ? undefined : stateOf(object);
    },
    write,
    edit: (key, change) => {
      const object = current.get(key);
      if (object === undefined) return;
      if (change === undefined) {
        current.delete(key);
        onChange(key, undefined);
        return;
      }
      const isScaled = change.replicas !== undefined && change.replicas !== object.replicas;
      const scaled = isScaled ? { generation: object.generation + 1, replicasManager: undefined } : {};
      put(key, { ...object, ...scaled, ...change });
    },
  };
};

/** Derives the state from the response to a write like `act`: fields that the response for a custom kind lacks come from `base`. */
const answerOf = (stored: ModelObject, { kind, base }: Write): ResourceState => {
  const state = stateInObject(scalableOf(stored), stored.ref);
  if (state !== undefined) return state;
  const resourceVersion = String(stored.version);
  return kind === 'scale'
    ? { ...base, resourceVersion, specReplicas: stored.replicas, observed: false }
    : { ...base, resourceVersion, annotations: stored.annotations };
};
