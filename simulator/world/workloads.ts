import {
  type JsonMap,
  type SimDraft,
  type SimObject,
  type SimStore,
  asList,
  asMap,
  simKinds,
} from '../apiserver/index.ts';
import { isReady } from './pod-status.ts';

/** Replicas that a workload should have; as the API server defaults it. */
export const wantedOf = (workload: SimObject): number => {
  const { replicas } = asMap(workload.spec);
  return typeof replicas === 'number' ? replicas : 1;
};

export const isObserved = (workload: SimObject): boolean =>
  asMap(workload.status).observedGeneration === workload.metadata.generation;

/** The owner reference that makes `owner` the controller of an object. */
export const controlledBy = (owner: SimObject): JsonMap => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** The UID of an object's controller, if it has one. */
export const controllerOf = (object: SimObject): string | undefined => {
  const reference = asList(object.metadata.ownerReferences)
    .map(asMap)
    .find(({ controller }) => controller === true);
  return typeof reference?.uid === 'string' ? reference.uid : undefined;
};

/** Pods of a workload, those that are being deleted included. */
export const podsOf = (store: SimStore, owner: SimObject): readonly SimObject[] =>
  store.list(simKinds.Pod, owner.metadata.namespace).filter((pod) => controllerOf(pod) === owner.metadata.uid);

/** Those that count: not being deleted, not ended (`FilterActivePods` of k8s.io/kubernetes/pkg/controller). */
export const isActive = ({ metadata, status }: SimObject): boolean =>
  metadata.deletionTimestamp === undefined && !['Failed', 'Succeeded'].includes(String(asMap(status).phase));

/** What the status of their owner counts of pods. */
export const countsOf = (pods: readonly SimObject[]) => {
  const active = pods.filter(isActive);
  const ready = active.filter(isReady).length;
  return { replicas: active.length, readyReplicas: ready, availableReplicas: ready };
};

export const withStatus = (object: SimObject, changes: Readonly<JsonMap>): SimObject => ({
  ...object,
  status: { ...asMap(object.status), ...changes },
});

/** Undefined for a Deployment whose pods nobody simulates. */
export const replicaSetOf = (store: SimStore, deployment: SimObject): SimObject | undefined =>
  store
    .list(simKinds.ReplicaSet, deployment.metadata.namespace)
    .find((replicaSet) => controllerOf(replicaSet) === deployment.metadata.uid);

/** Where pods of the seed run; which node it is decides nothing. */
const seedNode = 'seed-node';

/** A pod of `owner`, made from its template and bound to a node at once. A name that ends in a dash gets letters added. */
export const podFor = (owner: SimObject, name: string): SimDraft => {
  const { metadata, spec } = asMap(asMap(owner.spec).template);
  const named = name.endsWith('-') ? { name: '', generateName: name } : { name };
  const { namespace } = owner.metadata;
  return {
    metadata: {
      ...named,
      ...(namespace === undefined ? {} : { namespace }),
      labels: asMap(metadata).labels,
      ownerReferences: [controlledBy(owner)],
    },
    spec: { ...asMap(spec), nodeName: seedNode },
  };
};
