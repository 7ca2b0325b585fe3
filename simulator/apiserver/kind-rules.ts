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

const isBase64 = (value: unknown): boolean =>
  typeof value === 'string' && /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value);

export const secretProblem = (object: Readonly<JsonMap>): string | undefined =>
  Object.values(asMap(object.data)).every(isBase64) ? undefined : 'illegal base64 data';

export const negative = (field: string, value: number): StatusCause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${value}: must be greater than or equal to 0`,
  field,
});

/** Validates apps kinds; https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/apps/validation/validation.go */
export const validateReplicas = (object: Readonly<JsonMap>): readonly StatusCause[] => {
  const replicas = getPath(object, ['spec', 'replicas']);
  const causes: StatusCause[] = [];
  if (typeof replicas === 'number' && replicas < 0) causes.push(negative('spec.replicas', replicas));
  if (!isMap(getPath(object, ['spec', 'selector']))) {
    causes.push({ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.selector' });
  }
  return causes;
};

export const defaultNamespace = (object: JsonMap): JsonMap => {
  const name = getPath(object, ['metadata', 'name']);
  const labelled = withPath(object, ['metadata', 'labels'], {
    ...asMap(getPath(object, ['metadata', 'labels'])),
    'kubernetes.io/metadata.name': name,
  });
  return withDefault(withDefault(labelled, ['spec', 'finalizers'], ['kubernetes']), ['status', 'phase'], 'Active');
};

const withoutEmptyData = (object: JsonMap): JsonMap =>
  isMap(object.data) && Object.keys(object.data).length === 0 ? without(object, 'data') : object;

export const defaultConfigMap = withoutEmptyData;

export const defaultSecret = (object: JsonMap): JsonMap => {
  const { stringData, ...rest } = object;
  const typed = withDefault(rest, ['type'], 'Opaque');
  if (!isMap(stringData)) return withoutEmptyData(typed);
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString('base64'),
  ]);
  return { ...typed, data: { ...asMap(typed.data), ...(Object.fromEntries(encoded) as JsonMap) } };
};

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

export const validateEndpointSlice = (object: Readonly<JsonMap>): readonly StatusCause[] =>
  object.addressType === undefined
    ? [{ reason: 'FieldValueRequired', message: 'Required value', field: 'addressType' }]
    : [];
