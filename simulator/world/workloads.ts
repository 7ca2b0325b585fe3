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

/** Replicas that a workload should have, with the API server's default of 1. */
export const wantedOf = (workload: SimObject): number => {
  const { replicas } = asMap(workload.spec);
  return typeof replicas === 'number' ? replicas : 1;
};

export const isObserved = (workload: SimObject): boolean =>
  asMap(workload.status).observedGeneration === workload.metadata.generation;

/** Owner reference that makes `owner` the controller of an object. */
export const controlledBy = (owner: SimObject): JsonMap => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

/** UID of an object's controller, if it has one. */
export const controllerOf = (object: SimObject): string | undefined => {
  const reference = asList(object.metadata.ownerReferences)
    .map(asMap)
    .find(({ controller }) => controller === true);
  return typeof reference?.uid === 'string' ? reference.uid : undefined;
};

/** Pods of a workload, including those that are being deleted. */
export const podsOf = (store: SimStore, owner: SimObject): readonly SimObject[] =>
  store.list(simKinds.Pod, owner.metadata.namespace).filter((pod) => controllerOf(pod) === owner.metadata.uid);

/** True if a pod counts: it is not being deleted and has not ended (`FilterActivePods` in k8s.io/kubernetes/pkg/controller). */
export const isActive = ({ metadata, status }: SimObject): boolean =>
  metadata.deletionTimestamp === undefined && !['Failed', 'Succeeded'].includes(String(asMap(status).phase));

/** Counts of pods for the status of their owner. */
export const countsOf = (pods: readonly SimObject[]) => {
  const active = pods.filter(isActive);
  const ready = active.filter(isReady).length;
  return { replicas: active.length, readyReplicas: ready, availableReplicas: ready };
};

export const withStatus = (object: SimObject, changes: Readonly<JsonMap>): SimObject => ({
  ...object,
  status: { ...asMap(object.status), ...changes },
});

/** Returns a Deployment's ReplicaSet; undefined if its pods are not simulated. */
export const replicaSetOf = (store: SimStore, deployment: SimObject): SimObject | undefined =>
  store
    .list(simKinds.ReplicaSet, deployment.metadata.namespace)
    .find((replicaSet) => controllerOf(replicaSet) === deployment.metadata.uid);

/** Node on which all pods of the seed run; the simulation does not depend on it. */
const seedNode = 'seed-node';

/** Builds a pod from the template of `owner`, already bound to a node. A name that ends in a dash is a `generateName`. */
export const podFor = (owner: SimObject, name: string): SimDraft => {
  const { metadata, spec } = asMap(asMap(owner.spec).template);
  const named = name.endsWith('-') ? { name: '', generateName: name } : { name };
  const { namespace } = owner.metadata;
  return {
    metadata: {
      ...named,
      namespace,
      labels: asMap(metadata).labels,
      ownerReferences: [controlledBy(owner)],
    },
    spec: { ...asMap(spec), nodeName: seedNode },
  };
};
