import type { SimDraft } from '../apiserver/index.ts';
import { type CapiPlace, clusterNameLabel } from './capi-objects.ts';
import { type ShootInit, kubeconfigSecretName, technicalName } from './objects.ts';
import type { WorldSource } from './source.ts';

/** Location of a cluster's control plane in the seed, and the names of its objects. */
export interface ControlPlaneNames {
  readonly namespace: string;
  /** The prober's name for the cluster: its namespace, or `namespace/cluster` if several clusters may share a namespace. */
  readonly cluster: string;
  /** Namespace and name of the Cluster of Cluster API, if there is one. */
  readonly place?: CapiPlace;
  /** Returns the name of a component's object; the component is for example `kube-controller-manager`. */
  readonly nameOf: (component: string) => string;
  readonly secretName: string;
  /** Builds a Secret with a kubeconfig. */
  readonly secretObject: (name: string, kubeconfig: string) => SimDraft;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const capiPlane = ({ name, place = { namespace: 'fleet', cluster: name } }: ShootInit): ControlPlaneNames => {
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

export const controlPlaneNamesOf = (source: WorldSource, init: ShootInit): ControlPlaneNames => {
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
