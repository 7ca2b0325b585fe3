import { nearest } from './nearest.ts';

/**
 * Kinds with a `scale` subresource that a seed serves whatever is installed in it: those of Kubernetes, and those of Gardener's CRDs
 * (github.com/gardener/machine-controller-manager, github.com/gardener/etcd-druid). `names` are other words for them.
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
  /** The seed can never scale it; `problem` says what to write instead. */
  | { readonly kind: 'wrong'; readonly problem: string }
  /** Only the seed can tell. */
  | { readonly kind: 'unknown' };

/**
 * The group of a custom kind has a dot (ValidateCustomResourceDefinition of k8s.io/apiextensions-apiserver): all others are of Kubernetes, as are those under
 * k8s.io but for the projects under x-k8s.io.
 */
const isOfKubernetes = (apiVersion: string): boolean => {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return !group.includes('.') || (group.endsWith('.k8s.io') && !group.endsWith('.x-k8s.io'));
};

const isNamed = (name: string, kind: string, names: readonly string[]): boolean =>
  name.toLowerCase() === kind.toLowerCase() || names.includes(name.toLowerCase());

/** What is known of a kind without asking a seed: whether it can be scaled there under this `apiVersion` and `kind`. */
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
    const problem = `is served by no seed under this name: write apiVersion: ${meant.apiVersion} and kind: ${meant.kind}`;
    return { kind: 'wrong', problem };
  }
  const unable = [...notScalable].find((known) => isNamed(kind, known, [`${known.toLowerCase()}s`]));
  return unable === undefined
    ? { kind: 'unknown' }
    : { kind: 'wrong', problem: `can never be scaled: a ${unable} has no scale subresource` };
};
