import { resolveKind } from '../kubernetes/client/index.ts';
import type { ServedKindPath } from './calls.ts';
import { type InstallContext, InstallError, callOptions } from './context.ts';
import type { KubeObject } from './object.ts';

type Kind = Pick<KubeObject, 'apiVersion' | 'kind'>;

/**
 * All kinds that any version has ever installed, in the order in which they are removed: first what runs, then what it needs. A kind is
 * added here when the manifests get it, and never taken away: what an older version had is found by it.
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

/** Place of a kind in the order of removal; one that is not known goes last. */
export const removalRank = ({ kind }: Kind): number => {
  const rank = everInstalled.findIndex((known) => known.kind === kind);
  return rank === -1 ? everInstalled.length : rank;
};

/** How the API server serves a kind; undefined where it does not. */
export type FindKind = (kind: Kind) => Promise<ServedKindPath | undefined>;

/** Asks for each kind once. */
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

/** Throws an InstallError where the kind is not served. */
export const mustFindKind = async (findKind: FindKind, kind: Kind): Promise<ServedKindPath> => {
  const found = await findKind(kind);
  if (found !== undefined) return found;
  throw new InstallError(`this API server does not serve ${kind.kind} of ${kind.apiVersion}`);
};
