import type { Call } from '../kubernetes/api/call.ts';
import { decodeList, decodeMeta, decodeObject } from '../kubernetes/api/decode.ts';
import { ApiError } from '../kubernetes/api/errors.ts';
import { type ResourceRef, groupOf, refKey } from '../kubernetes/api/resource-ref.ts';
import { scalesInOneWrite } from '../kubernetes/api/scalable.ts';
import { resolveKind } from '../kubernetes/client/index.ts';
import { type Grant, type Inquiry, type NeededRight, eventGrant, rightsOf, watched } from '../process/index.ts';
import type { ProberSettings } from './settings.ts';

/** One Cluster, which may be any. */
const firstCluster: Call<readonly string[]> = {
  method: 'GET',
  path: '/apis/extensions.gardener.cloud/v1alpha1/clusters',
  query: { limit: '1' },
  decode: decodeList((item, path) => decodeMeta(decodeObject(item, path), path).name),
};

/** Some namespace of a shoot's control plane: rights to single objects may be granted namespace by namespace. */
const someNamespace = async ({ client, options }: Inquiry): Promise<string | undefined> => {
  try {
    return (await client.call(firstCluster, options)).value[0];
  } catch (error) {
    // That this right is missing is told with the others.
    if (error instanceof ApiError && error.code === 'Forbidden') return undefined;
    throw error;
  }
};

export const secretNames = ({ kubeConfigSecretName, externalProbe }: ProberSettings): readonly string[] => [
  ...new Set([kubeConfigSecretName, ...(externalProbe === undefined ? [] : [externalProbe.kubeConfigSecretName])]),
];

/** The plural of a kind; undefined where it is not served: there is nothing to have a right to, and that is told elsewhere. */
export type PluralOf = (ref: ResourceRef) => string | undefined;

const scaling = 'to scale a dependent resource';

const forDependent = (ref: ResourceRef, resource: string): readonly Grant[] => {
  const named = { group: groupOf(ref), resource, names: [ref.name] };
  const scaled: Grant = { ...named, verbs: ['get', 'patch'], purpose: scaling, byNamespace: true };
  return [
    { ...named, verbs: watched, purpose: 'to know the state of a dependent resource' },
    scaled,
    ...(scalesInOneWrite(ref) ? [] : [{ ...scaled, resource: `${resource}/scale` }]),
  ];
};

const forApiServer = (ref: ResourceRef, resource: string): readonly Grant[] => [
  {
    ...{ group: groupOf(ref), resource, names: [ref.name], verbs: watched },
    purpose: 'to tell whether an API server that cannot be reached is down',
  },
];

/**
 * What the prober uses in a seed under `settings`. What is watched is watched in all namespaces; what is read and written one by one is in the
 * namespace of a shoot.
 */
export const proberGrants = (settings: ProberSettings, pluralOf: PluralOf): readonly Grant[] => {
  const served = (ref: ResourceRef, grantsOf: (ref: ResourceRef, resource: string) => readonly Grant[]) => {
    const resource = pluralOf(ref);
    return resource === undefined ? [] : grantsOf(ref, resource);
  };
  return [
    {
      group: 'extensions.gardener.cloud',
      resource: 'clusters',
      verbs: watched,
      purpose: 'to know which shoots there are',
    },
    {
      group: '',
      resource: 'secrets',
      names: secretNames(settings),
      verbs: watched,
      purpose: 'to reach the API servers of shoots',
    },
    {
      group: 'machine.sapcloud.io',
      resource: 'machines',
      verbs: ['list'],
      purpose: 'to judge a shoot whose leases have expired',
      byNamespace: true,
    },
    ...settings.dependentResources.flatMap(({ ref }) => served(ref, forDependent)),
    ...served(settings.apiServerRef, forApiServer),
    eventGrant,
  ];
};

/** What the prober uses in a shoot. Everybody may get `/version` (ClusterRole `system:public-info-viewer`). */
export const proberShootGrants: readonly Grant[] = [
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['list'],
    purpose: 'to see whether kubelets renew them',
    namespace: 'kube-node-lease',
  },
  { group: '', resource: 'nodes', verbs: ['list'], purpose: 'to judge a shoot whose leases have expired' },
];

/** The rights that `settings` take in a seed, with the kinds as it serves them. */
export const neededByProber = async (settings: ProberSettings, inquiry: Inquiry): Promise<readonly NeededRight[]> => {
  const namespace = await someNamespace(inquiry);
  const plurals = new Map<string, string>();
  for (const ref of [settings.apiServerRef, ...settings.dependentResources.map((dependent) => dependent.ref)]) {
    const found = await resolveKind(inquiry.client, ref, inquiry.options);
    if (found.kind === 'served') plurals.set(refKey(ref), found.resource);
  }
  const grants = proberGrants(settings, (ref) => plurals.get(refKey(ref)));
  return rightsOf(grants, namespace);
};
