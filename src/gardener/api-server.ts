import { decodeObject, optionalInteger, optionalObject } from '../kubernetes/api/decode.ts';
import type { ResourceRef } from '../kubernetes/api/resource-ref.ts';

/** The Deployment of a shoot's API server in its control plane, as gardenlet names it (v1beta1constants.DeploymentNameKubeAPIServer). */
export const gardenApiServerRef: ResourceRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'kube-apiserver' };

/**
 * Reads `status.readyReplicas`, or `availableReplicas` of a kind that has only those; both are absent while they are 0 (k8s.io/api/apps/v1, DeploymentStatus).
 * A replica that is ready again is not available for another `minReadySeconds`, which are 30 for Gardener's API servers (`reconcileDeployment` in
 * https://github.com/gardener/gardener/blob/master/pkg/component/kubernetes/apiserver/deployment.go): in that time it serves.
 */
export const decodeReadyReplicas = (json: unknown, path: string): number => {
  const status = optionalObject(decodeObject(json, path).status, `${path}.status`) ?? {};
  const count = (name: string): number | undefined => optionalInteger(status[name], `${path}.status.${name}`);
  const [ready, available = 0] = [count('readyReplicas'), count('availableReplicas')];
  return ready ?? available;
};
