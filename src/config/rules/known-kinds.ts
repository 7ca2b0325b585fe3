import { nearest } from './nearest.ts';

/**
 * Kinds with a `scale` subresource that every seed serves: those of Kubernetes, and those of Gardener's CRDs
 * (github.com/gardener/machine-controller-manager, github.com/gardener/etcd-druid). `names` are their plurals and short names.
 */
const scalable: readonly { readonly apiVersion: string; readonly kind: string; readonly names: readonly string[] }[] = [
  { apiVersion: 'apps/v1', kind: 'Deployment', names: ['deployments', 'deploy'] },
  { apiVersion: 'apps/v1', kind: 'StatefulSet', names: ['statefulsets', 'sts'] },
  { apiVersion: 'apps/v1', kind: 'ReplicaSet', names: ['replicasets', 'rs'] },
  { apiVersion: 'v1', kind: 'ReplicationController', names: ['replicationcontrollers', 'rc'] },
  { apiVersion: 'machine.sapcloud.io/v1alpha1', kind: 'MachineDeployment', names: [] },
  { apiVersion: 'machine.sapcloud.io/v1alpha1', kind: 'MachineSet', names: [] },
  { apiVersion: 'druid.gardener.cloud/v1alpha1', kind: 'Etcd', names: [] },
];

/** Namespaced kinds of Kubernetes that have no `scale` subresource; a test compares both lists with a real API server. */
const notScalable: ReadonlySet<string> = new Set([
  ...['Binding', 'ConfigMap', 'Endpoints', 'Event', 'LimitRange', 'PersistentVolumeClaim', 'Pod', 'PodTemplate'],
  ...['ResourceQuota', 'Secret', 'Service', 'ServiceAccount'],
  ...['ControllerRevision', 'DaemonSet'],
  ...['CronJob', 'Job'],
  ...['EndpointSlice', 'HorizontalPodAutoscaler', 'Ingress', 'Lease', 'LocalSubjectAccessReview', 'NetworkPolicy'],
  ...['CSIStorageCapacity', 'PodDisruptionBudget', 'ResourceClaim', 'ResourceClaimTemplate', 'Role', 'RoleBinding'],
]);

export type KindJudgement =
  | { readonly kind: 'scalable' }
  /** The kind can never be scaled under this name; `problem` explains why or names the right one. */
  | { readonly kind: 'wrong'; readonly problem: string }
  /** Only a seed's discovery can show if the kind can be scaled. */
  | { readonly kind: 'unknown' };

/**
 * The group of a custom kind has a dot (ValidateCustomResourceDefinition of k8s.io/apiextensions-apiserver), so groups without one belong to Kubernetes. So
 * do the groups under k8s.io, except those under x-k8s.io.
 */
const isOfKubernetes = (apiVersion: string): boolean => {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return !group.includes('.') || (group.endsWith('.k8s.io') && !group.endsWith('.x-k8s.io'));
};

const isNamed = (name: string, kind: string, names: readonly string[]): boolean =>
  name.toLowerCase() === kind.toLowerCase() || names.includes(name.toLowerCase());

/** Judges without a request to a seed if the kind can be scaled under this `apiVersion` and `kind`. */
export const judgeKind = ({
  apiVersion,
  kind,
}: {
  readonly apiVersion: string;
  readonly kind: string;
}): KindJudgement => {
  if (scalable.some((known) => known.apiVersion === apiVersion && known.kind === kind)) return { kind: 'scalable' };
  if (!isOfKubernetes(apiVersion)) return { kind: 'unknown' };
  const near = nearest(
    kind,
    scalable.map((known) => known.kind),
  );
  const meant = scalable.find((known) => isNamed(kind, known.kind, known.names) || known.kind === near);
  if (meant !== undefined) {
    const problem = `is not served by any seed: use apiVersion: ${meant.apiVersion} and kind: ${meant.kind}`;
    return { kind: 'wrong', problem };
  }
  const unable = [...notScalable].find((known) => isNamed(kind, known, [`${known.toLowerCase()}s`]));
  return unable === undefined
    ? { kind: 'unknown' }
    : { kind: 'wrong', problem: `can never be scaled: a ${unable} has no scale subresource` };
};
