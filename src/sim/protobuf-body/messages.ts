import { apiVersionOf, type SimKind } from '../kind.ts';
import { configMap, lease, namespace, node, secret } from './cluster.ts';
import { objectMeta } from './meta.ts';
import { pod } from './pods.ts';
import type { BodyMessage } from './read.ts';
import { endpointSlice, event, service } from './services.ts';
import { deployment, replicaSet, statefulSet } from './workloads.ts';

const messages: Readonly<Record<string, BodyMessage>> = {
  'v1 Namespace': namespace,
  'v1 Secret': secret,
  'v1 ConfigMap': configMap,
  'v1 Node': node,
  'v1 Pod': pod,
  'v1 Service': service,
  'v1 Event': event,
  'coordination.k8s.io/v1 Lease': lease,
  'apps/v1 Deployment': deployment,
  'apps/v1 StatefulSet': statefulSet,
  'apps/v1 ReplicaSet': replicaSet,
  'discovery.k8s.io/v1 EndpointSlice': endpointSlice,
};

/** Undefined where bodies come in JSON only: custom kinds have no protobuf. */
export const bodyMessageOf = (kind: SimKind): BodyMessage | undefined => messages[`${apiVersionOf(kind)} ${kind.kind}`];

/** `autoscaling/v1` Scale. */
export const scaleMessage: BodyMessage = {
  metadata: [1, objectMeta],
  spec: [2, { replicas: [1, 'integer'] }],
  status: [3, { replicas: [1, 'integer'], selector: [2, 'string'] }],
};

/** `metav1.DeleteOptions` */
export const deleteOptionsMessage: BodyMessage = {
  gracePeriodSeconds: [1, 'integer', 'kept'],
  preconditions: [2, { uid: [1, 'string', 'kept'], resourceVersion: [2, 'string', 'kept'] }],
  orphanDependents: [3, 'bool', 'kept'],
  propagationPolicy: [4, 'string'],
  dryRun: [5, 'strings'],
};
