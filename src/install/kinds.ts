import { resolveKind } from '../kubernetes/client/index.ts';
import type { ServedKindPath } from './calls.ts';
import { type InstallContext, InstallError, callOptions } from './context.ts';
import type { KubeObject } from './object.ts';

type Kind = Pick<KubeObject, 'apiVersion' | 'kind'>;

/**
 * All kinds that any version has ever installed, in the order of removal: first workloads, then the objects that they need. Add a kind
 * here when the manifests get it, and never remove one: it finds the objects of older versions.
 */
export const everInstalled: readonly Kind[] = [
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
  { apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor' },
  { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicyBinding' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingAdmissionPolicyBinding' },
  { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingAdmissionPolicy' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
  { apiVersion: 'v1', kind: 'ConfigMap' },
  { apiVersion: 'v1', kind: 'ServiceAccount' },
];

/** Returns the position of a kind in the order of removal. Unknown kinds are last. */
export const removalRank = ({ kind }: Kind): number => {
  const rank = everInstalled.findIndex((known) => known.kind === kind);
  return rank === -1 ? everInstalled.length : rank;
};

/** Returns how the API server serves a kind. Undefined if it does not. */
export type FindKind = (kind: Kind) => Promise<ServedKindPath | undefined>;

/** Creates a FindKind that requests each kind only once. */
export const createFindKind = (context: InstallContext): FindKind => {
  const known = new Map<string, Promise<ServedKindPath | undefined>>();
  const ask = async ({ apiVersion, kind }: Kind): Promise<ServedKindPath | undefined> => {
    const found = await resolveKind(context.client, { apiVersion, kind }, callOptions(context));
    if (found.kind === 'not-served') return undefined;
    const { resource, namespaced } = found;
    return { apiVersion, kind, resource, namespaced };
  };
  return (kind) => {
    const key = `${kind.apiVersion}/${kind.kind}`;
    const found = known.get(key) ?? ask(kind);
    known.set(key, found);
    return found;
  };
};

/** Finds a kind. Throws an InstallError if it is not served. */
export const mustFindKind = async (findKind: FindKind, kind: Kind): Promise<ServedKindPath> => {
  const found = await findKind(kind);
  if (found !== undefined) return found;
  throw new InstallError(`this API server does not serve ${kind.kind} of ${kind.apiVersion}`);
};
