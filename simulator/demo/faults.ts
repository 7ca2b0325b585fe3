import type { Call } from '../../src/kubernetes/api/call.ts';
import { type WorldSource, etcdAnnotation, kubeletsAnnotation } from '../world/index.ts';

/** A fault that the demo injects into a shoot, or its repair. */
export interface DemoFault {
  readonly kind: 'cut kubelets' | 'connect some kubelets' | 'connect kubelets' | 'break etcd' | 'mend etcd';
  /** Name of the shoot. */
  readonly shoot: string;
}

/** Annotations by fault. Null removes the annotation. */
const annotations: Readonly<Record<DemoFault['kind'], Readonly<Record<string, string | null>>>> = {
  'cut kubelets': { [kubeletsAnnotation]: 'cut' },
  'connect some kubelets': { [kubeletsAnnotation]: 'late' },
  'connect kubelets': { [kubeletsAnnotation]: null },
  'break etcd': { [etcdAnnotation]: 'down' },
  'mend etcd': { [etcdAnnotation]: null },
};

/** API paths of the objects whose annotations control the simulated seed. */
export const steeringPath: Readonly<Record<WorldSource, string>> = {
  gardener: '/apis/extensions.gardener.cloud/v1alpha1/clusters',
  secret: '/api/v1/namespaces',
};

/** Returns the call that annotates the Cluster or Namespace of this name. A user can do the same with kubectl. */
export const faultCall = (
  kind: DemoFault['kind'],
  cluster: string,
  source: WorldSource = 'gardener',
): Call<undefined> => ({
  method: 'PATCH',
  path: `${steeringPath[source]}/${cluster}`,
  contentType: 'application/merge-patch+json',
  repeatable: true,
  body: { metadata: { annotations: annotations[kind] } },
  decode: () => undefined,
});
