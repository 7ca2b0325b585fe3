import { type JsonMap, asList, asMap, getPath, isMap, withPath, without } from './object.ts';

// Defaults of built-in kinds: only what requests of the watchdog and the actors need, not all that the real server does.

const withDefault = (object: Readonly<JsonMap>, path: readonly string[], value: unknown): JsonMap =>
  getPath(object, path) === undefined ? withPath(object, path, value) : { ...object };

export const defaultReplicas = (object: JsonMap): JsonMap =>
  withDefault(withDefault(object, ['spec', 'replicas'], 1), ['status'], {});

// The status of these kinds shows the counts below even when they are 0.

export const defaultStatefulSet = (object: JsonMap): JsonMap =>
  withDefault(withDefault(defaultReplicas(object), ['status', 'replicas'], 0), ['status', 'availableReplicas'], 0);

export const defaultReplicaSet = (object: JsonMap): JsonMap =>
  withDefault(defaultReplicas(object), ['status', 'replicas'], 0);

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

/** `metav1.MicroTime` requires exactly six digits after the seconds, because its layout in Go has six. */
const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)$/;

const timeFields = ['acquireTime', 'renewTime'];

const isMicroTime = (value: unknown): boolean =>
  typeof value === 'string' && microTime.test(value) && !Number.isNaN(Date.parse(value));

/** Returns the error of the real server's decoder for a Lease; undefined if the Lease is valid. */
export const leaseProblem = (object: Readonly<JsonMap>): string | undefined => {
  const spec = asMap(object.spec);
  const wrong = timeFields.find((field) => spec[field] !== undefined && !isMicroTime(spec[field]));
  if (wrong === undefined) return undefined;
  const text = JSON.stringify(spec[wrong]);
  return `parsing time ${text} as "2006-01-02T15:04:05.000000Z07:00": cannot parse ${text}`;
};
