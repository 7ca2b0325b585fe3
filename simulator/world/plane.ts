import type { SimDraft } from '../apiserver/index.ts';
import { type CapiPlace, clusterNameLabel } from './capi-objects.ts';
import { type ShootInit, kubeconfigSecretName, technicalName } from './objects.ts';
import type { WorldSource } from './source.ts';

/** Where the control plane of a cluster is in the seed, and how its parts are called. */
export interface Plane {
  readonly namespace: string;
  /** Name by which a prober calls the cluster: its namespace, or `namespace/cluster` where several may share one. */
  readonly cluster: string;
  /** With Cluster API: of its Cluster. */
  readonly place?: CapiPlace;
  /** Of the object for a component, such as `kube-controller-manager`. */
  readonly nameOf: (component: string) => string;
  readonly secretName: string;
  /** A Secret with a kubeconfig. */
  readonly secretObject: (name: string, kubeconfig: string) => SimDraft;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const capiPlane = ({ name, place = { namespace: 'fleet', cluster: name } }: ShootInit): Plane => {
  const { namespace, cluster, names = {} } = place;
  const labels = { [clusterNameLabel]: cluster };
  const nameOf = (component: string): string => names[component] ?? `${cluster}-${component}`;
  return {
    namespace,
    cluster: `${namespace}/${cluster}`,
    place,
    nameOf,
    secretName: nameOf('kubeconfig'),
    secretObject: (secret, kubeconfig) => ({
      metadata: { name: secret, namespace, labels },
      type: 'cluster.x-k8s.io/secret',
      data: { value: base64(kubeconfig) },
    }),
  };
};

export const planeOf = (source: WorldSource, init: ShootInit): Plane => {
  if (source === 'cluster-api') return capiPlane(init);
  const namespace = technicalName(init.name);
  return {
    namespace,
    cluster: namespace,
    nameOf: (component) => component,
    secretName: kubeconfigSecretName,
    secretObject: (name, kubeconfig) => ({
      metadata: { name, namespace },
      type: 'Opaque',
      data: { kubeconfig: base64(kubeconfig) },
    }),
  };
};
