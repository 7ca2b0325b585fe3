import { ignoreScalingAnnotation } from '../../src/kubernetes/api/scalable.ts';
import { type JsonMap, type SimObject, simKinds } from '../apiserver/index.ts';
import type { World } from '../world/index.ts';

const roleLabel = 'gardener.cloud/role';

const withoutRole = (labels: SimObject['metadata']['labels'] = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => key !== roleLabel));

/** Pods that come later are made from the template. */
const withoutRoleInTemplate = (spec: unknown): JsonMap => {
  const { template, ...others } = spec as { readonly template: { readonly metadata: SimObject['metadata'] } };
  const metadata = { ...template.metadata, labels: withoutRole(template.metadata.labels) };
  return { ...others, template: { ...template, metadata } };
};

/**
 * Takes a shoot out of the care of both watchdogs by what they go by: the annotation that keeps the prober off its Deployments, and pods
 * without a label that the weeder's selectors ask for.
 */
export const leaveUnprotected = (world: World, shoot: string): void => {
  const { store } = world;
  const { namespace } = world.shoot(shoot);
  for (const { metadata } of store.list(simKinds.Deployment, namespace)) {
    store.patch(simKinds.Deployment, metadata, (old) => ({
      ...old,
      metadata: { ...old.metadata, annotations: { ...old.metadata.annotations, [ignoreScalingAnnotation]: 'true' } },
    }));
  }
  for (const { metadata } of store.list(simKinds.ReplicaSet, namespace)) {
    store.patch(simKinds.ReplicaSet, metadata, (old) => ({ ...old, spec: withoutRoleInTemplate(old.spec) }));
  }
  for (const { metadata } of store.list(simKinds.Pod, namespace)) {
    store.patch(simKinds.Pod, metadata, (old) => ({
      ...old,
      metadata: { ...old.metadata, labels: withoutRole(old.metadata.labels) },
    }));
  }
};
