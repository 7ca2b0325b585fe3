import { chooseCandidates } from '../../gardener/candidate-nodes.ts';
import { type ClusterView, decodeCluster } from '../../gardener/cluster.ts';
import { listMachines } from '../../gardener/machine.ts';
import { listNodes } from '../../gardener/node.ts';
import { decodeList, decodeMeta, decodeObject } from '../../kubernetes/api/decode.ts';
import { createInformer } from '../../kubernetes/cache/index.ts';
import { watched } from '../../process/rights/index.ts';
import { decideShootLifecycle, shootGone } from './lifecycle.ts';
import type { ProberSettings } from '../config/settings.ts';
import { noSuchNode, watchKubeconfigs, type ClusterSource, type HostedCluster } from './cluster-source.ts';

const path = '/apis/extensions.gardener.cloud/v1alpha1/clusters';

/** Reduces a Cluster to what the prober needs. */
export const hostedShoot = ({ shoot, ...cluster }: ClusterView): HostedCluster => ({
  ...cluster,
  lifecycle: shoot.ok ? { ok: true, value: decideShootLifecycle(shoot.value) } : shoot,
});

/** Cluster source for Gardener: a Cluster (`extensions.gardener.cloud`) for each shoot, with the Shoot in it. */
export const gardenerSource = ({
  kubeConfigSecretName,
}: Pick<ProberSettings, 'kubeConfigSecretName'>): ClusterSource => ({
  watch: (deps) => ({
    clusters: createInformer({
      ...deps,
      path,
      project: (json, at) => hostedShoot(decodeCluster(json, at)),
    }),
    kubeconfigs: watchKubeconfigs(kubeConfigSecretName, deps),
  }),
  gone: shootGone,
  lists: { nodes: listNodes, noSuchNode, machines: listMachines, chooseCandidates },
  someNamespaces: {
    method: 'GET',
    path,
    query: { limit: '1' },
    decode: decodeList((item, at) => decodeMeta(decodeObject(item, at), at).name),
  },
  grants: [
    {
      group: 'extensions.gardener.cloud',
      resource: 'clusters',
      verbs: watched,
      purpose: 'to find the shoots',
    },
    {
      group: 'machine.sapcloud.io',
      resource: 'machines',
      verbs: ['list'],
      purpose: 'to judge a shoot whose leases have expired',
      byNamespace: true,
    },
  ],
});
