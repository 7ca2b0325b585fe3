import {
  type JsonObject,
  childObject,
  decodeMeta,
  decodeObject,
  decodeString,
  optionalBoolean,
  optionalList,
  optionalString,
} from '../kubernetes/api/decode.ts';

/** Annotation that, with any value, stops the controllers of Cluster API from acting on an object (`HasPaused` in sigs.k8s.io/cluster-api/util/annotations). */
const pausedAnnotation = 'cluster.x-k8s.io/paused';

/** A Cluster (`cluster.x-k8s.io`, v1beta1 or v1beta2; these fields are the same in both). */
export interface CapiCluster {
  readonly namespace: string;
  readonly name: string;
  /** True if `spec.paused` or the annotation stops the controllers of Cluster API (`EnsurePausedCondition` in sigs.k8s.io/cluster-api/util/paused). */
  readonly paused: boolean;
  /** True if its API server has responded at some time (condition `ControlPlaneInitialized`). */
  readonly initialized: boolean;
  readonly deleting: boolean;
  readonly annotations: Readonly<Record<string, string>>;
}

const isTrue = (conditions: readonly unknown[], wanted: string, path: string): boolean =>
  conditions.some((item, index) => {
    const at = `${path}[${String(index)}]`;
    const { type, status } = decodeObject(item, at);
    return decodeString(type, `${at}.type`) === wanted && optionalString(status, `${at}.status`) === 'True';
  });

const conditionsOf = (object: JsonObject, path: string): readonly unknown[] =>
  optionalList(childObject(object, path, 'status').conditions, `${path}.status.conditions`) ?? [];

export const decodeCapiCluster = (json: unknown, path: string): CapiCluster => {
  const object = decodeObject(json, path);
  const { namespace, name, annotations, deleting } = decodeMeta(object, path);
  const spec = childObject(object, path, 'spec');
  return {
    namespace,
    name,
    paused:
      (optionalBoolean(spec.paused, `${path}.spec.paused`) ?? false) || annotations[pausedAnnotation] !== undefined,
    initialized: isTrue(conditionsOf(object, path), 'ControlPlaneInitialized', `${path}.status.conditions`),
    deleting,
    annotations,
  };
};
