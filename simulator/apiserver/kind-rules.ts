import { type JsonMap, asList, asMap, getPath, isMap, withPath, without } from './object.ts';
import type { StatusCause } from './kind.ts';

// Defaults and validation of built-in kinds: only what requests of the watchdog and the actors need, not all that the real server does.

const withDefault = (object: Readonly<JsonMap>, path: readonly string[], value: unknown): JsonMap =>
  getPath(object, path) === undefined ? withPath(object, path, value) : { ...object };

export const defaultReplicas = (object: JsonMap): JsonMap =>
  withDefault(withDefault(object, ['spec', 'replicas'], 1), ['status'], {});

// The status of these kinds shows the counts below even when they are 0.

export const defaultStatefulSet = (object: JsonMap): JsonMap =>
  withDefault(withDefault(defaultReplicas(object), ['status', 'replicas'], 0), ['status', 'availableReplicas'], 0);

export const defaultReplicaSet = (object: JsonMap): JsonMap =>
  withDefault(defaultReplicas(object), ['status', 'replicas'], 0);

const maxInt32 = 2_147_483_647;

export const isInt32 = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Math.abs(value as number) <= maxInt32;

export const replicasProblem = (object: Readonly<JsonMap>): string | undefined => {
  const replicas = getPath(object, ['spec', 'replicas']) ?? undefined;
  if (replicas === undefined || isInt32(replicas)) return undefined;
  return `json: cannot unmarshal ${JSON.stringify(replicas)} into Go struct field spec.replicas of type int32`;
};

export const negative = (field: string, value: number): StatusCause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${value}: must be greater than or equal to 0`,
  field,
});

/** Validates apps kinds; https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/apps/validation/validation.go */
export const validateReplicas = (object: Readonly<JsonMap>): readonly StatusCause[] => {
  const replicas = getPath(object, ['spec', 'replicas']);
  return typeof replicas === 'number' && replicas < 0 ? [negative('spec.replicas', replicas)] : [];
};

export const defaultNamespace = (object: JsonMap): JsonMap => {
  const name = getPath(object, ['metadata', 'name']);
  const labelled = withPath(object, ['metadata', 'labels'], {
    ...asMap(getPath(object, ['metadata', 'labels'])),
    'kubernetes.io/metadata.name': name,
  });
  return withDefault(withDefault(labelled, ['spec', 'finalizers'], ['kubernetes']), ['status', 'phase'], 'Active');
};

export const defaultConfigMap = (object: JsonMap): JsonMap =>
  isMap(object.data) && Object.keys(object.data).length === 0 ? without(object, 'data') : object;

export const defaultSecret = (object: JsonMap): JsonMap => defaultConfigMap(withDefault(object, ['type'], 'Opaque'));

export const defaultPod = (object: JsonMap): JsonMap => {
  const graced = withDefault(object, ['spec', 'terminationGracePeriodSeconds'], 30);
  const restarted = withDefault(graced, ['spec', 'restartPolicy'], 'Always');
  return withDefault(withDefault(restarted, ['status', 'phase'], 'Pending'), ['status', 'qosClass'], 'BestEffort');
};

const nullWhenEmpty = (value: unknown): unknown => (asList(value).length === 0 ? null : value);

/** Turns empty lists into null: the real server's storage does not distinguish an empty list from none, and Go writes none as null. */
export const defaultEndpointSlice = (object: JsonMap): JsonMap => ({
  ...object,
  endpoints: nullWhenEmpty(object.endpoints),
  ports: nullWhenEmpty(object.ports),
});
