import { simKinds } from '../../../simulator/apiserver/kinds.ts';
import type { JsonMap } from '../../../simulator/apiserver/object.ts';
import { typed } from './api.ts';

interface Meta {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const template = (labels: Readonly<Record<string, string>>): JsonMap => ({
  metadata: { labels },
  spec: { containers: [{ name: 'main', image: 'none' }] },
});

export const configMap = (name: string, data: Readonly<Record<string, string>> = {}, meta: Meta = {}): JsonMap => ({
  metadata: { name, ...meta },
  data,
});

/** A Deployment, StatefulSet or ReplicaSet; all three take the same fields. */
export const workload = (name: string, spec: Readonly<JsonMap> = {}, meta: Meta = {}): JsonMap => ({
  metadata: { name, ...meta },
  spec: { selector: { matchLabels: { app: name } }, template: template({ app: name }), ...spec },
});

export const statefulSet = (name: string, spec: Readonly<JsonMap> = {}): JsonMap =>
  workload(name, { serviceName: name, ...spec });

export const pod = (name: string, spec: Readonly<JsonMap> = {}, meta: Meta = {}): JsonMap => ({
  metadata: { name, ...meta },
  spec: { containers: [{ name: 'main', image: 'none' }], ...spec },
});

/** A `v1.ContainerStatus` with all fields that a real API server adds; `fields` replace or extend them. */
export const containerStatus = (name: string, fields: Readonly<JsonMap> = {}): JsonMap => ({
  name,
  state: {},
  lastState: {},
  ready: false,
  restartCount: 0,
  image: 'none',
  imageID: '',
  ...fields,
});

export const lease = (name: string, spec: Readonly<JsonMap> = {}): JsonMap => ({ metadata: { name }, spec });

export const node = (name: string, fields: Readonly<JsonMap> = {}): JsonMap => ({ metadata: { name }, ...fields });

export const endpointSlice = (name: string, labels: Readonly<Record<string, string>> = {}): JsonMap => ({
  metadata: { name, labels },
  addressType: 'IPv4',
  endpoints: [],
  ports: [],
});

export const watermill = (name: string, fields: Readonly<JsonMap> = {}): JsonMap =>
  typed(simKinds.Watermill, { metadata: { name }, spec: { wheel: { count: 2 } }, ...fields });

export const machine = (name: string, fields: Readonly<JsonMap> = {}): JsonMap =>
  typed(simKinds.Machine, { metadata: { name }, spec: {}, ...fields });

export const etcd = (name: string, fields: Readonly<JsonMap> = {}): JsonMap =>
  typed(simKinds.Etcd, { metadata: { name }, spec: { replicas: 1 }, ...fields });
