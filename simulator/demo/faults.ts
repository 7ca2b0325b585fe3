import type { Call } from '../../src/kubernetes/api/call.ts';
import { type WorldSource, etcdAnnotation, kubeletsAnnotation } from '../world/index.ts';

/** The demo has no seed with Cluster API. */
export type DemoSource = Exclude<WorldSource, 'cluster-api'>;

/** What the demo does to a shoot. */
export interface DemoFault {
  readonly kind: 'cut kubelets' | 'connect some kubelets' | 'connect kubelets' | 'break etcd' | 'mend etcd';
  /** Name of the shoot. */
  readonly shoot: string;
}

/** Null removes the annotation. */
const annotations: Readonly<Record<DemoFault['kind'], Readonly<Record<string, string | null>>>> = {
  'cut kubelets': { [kubeletsAnnotation]: 'cut' },
  'connect some kubelets': { [kubeletsAnnotation]: 'late' },
  'connect kubelets': { [kubeletsAnnotation]: null },
  'break etcd': { [etcdAnnotation]: 'down' },
  'mend etcd': { [etcdAnnotation]: null },
};

/** Of the objects whose annotations steer the world. */
export const steeringPath: Readonly<Record<DemoSource, string>> = {
  gardener: '/apis/extensions.gardener.cloud/v1alpha1/clusters',
  secret: '/api/v1/namespaces',
};

/** Annotates the Cluster of that name, or the Namespace, as anybody with kubectl can. */
export const faultCall = ({ kind }: DemoFault, cluster: string, source: DemoSource = 'gardener'): Call<undefined> => ({
  method: 'PATCH',
  path: `${steeringPath[source]}/${cluster}`,
  contentType: 'application/merge-patch+json',
  repeatable: true,
  body: { metadata: { annotations: annotations[kind] } },
  decode: () => undefined,
});
