import { decodeObject, optionalInteger, optionalObject } from '../kubernetes/api/decode.ts';
import type { ResourceRef } from '../kubernetes/api/resource-ref.ts';

/** The Deployment of a shoot's API server in its control plane, as gardenlet names it (v1beta1constants.DeploymentNameKubeAPIServer). */
export const gardenApiServerRef: ResourceRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kube-apiserver' };

/** Reads `status.availableReplicas`, which is absent while it is 0 (k8s.io/api/apps/v1, DeploymentStatus). */
export const decodeAvailableReplicas = (json: unknown, path: string): number => {
  const status = optionalObject(decodeObject(json, path).status, `${path}.status`) ?? {};
  return optionalInteger(status.availableReplicas, `${path}.status.availableReplicas`) ?? 0;
};
