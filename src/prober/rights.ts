import { isApiError } from '../kubernetes/api/errors.ts';
import { type ResourceRef, groupOf, refKey } from '../kubernetes/api/resource-ref.ts';
import { isPatchableWorkload } from '../kubernetes/api/scalable.ts';
import { resolveKind } from '../kubernetes/client/index.ts';
import {
  type Grant,
  type DiscoveryAccess,
  type NeededRight,
  eventGrant,
  rightsOf,
  watched,
} from '../process/rights/index.ts';
import { leaseNameOf } from '../process/index.ts';
import { type RefTemplate, isTemplate } from './config/ref-template.ts';
import type { DependentResource, ProberSettings } from './config/settings.ts';
import { sourceOf } from './clusters/sources.ts';

/** Returns the namespace of some control plane: rights to single objects may be granted namespace by namespace. */
const someNamespace = async (
  settings: ProberSettings,
  { client, options }: DiscoveryAccess,
): Promise<string | undefined> => {
  try {
    return (await client.call(sourceOf(settings).someNamespaces, options)).value[0];
  } catch (error) {
    // The missing right is reported with the others.
    if (isApiError(error, 'Forbidden')) return undefined;
    throw error;
  }
};

const secretNames = ({ kubeConfigSecretName, externalProbe }: ProberSettings): readonly string[] => [
  ...new Set([kubeConfigSecretName, ...(externalProbe === undefined ? [] : [externalProbe.kubeConfigSecretName])]),
];

/** Returns the names of the Secrets for a grant. */
const secretsNamed = (settings: ProberSettings): Pick<Grant, 'names'> => {
  // RBAC cannot select by labels.
  if (settings.clusterSource?.selector !== undefined) return {};
  return { names: secretNames(settings) };
};

/** Returns the plural of a kind; undefined if the kind is not served: then there is nothing to have a right to, and the problem is reported elsewhere. */
export type PluralOf = (ref: ResourceRef) => string | undefined;

/** Returns the name of a resource for a grant. RBAC does not support placeholders: a template needs the right to all names. */
const namesOf = ({ name }: RefTemplate): Pick<Grant, 'names'> => (isTemplate(name) ? {} : { names: [name] });

const forDependent = ({ ref }: DependentResource, resource: string): readonly Grant[] => {
  const purpose = 'to scale a dependent resource';
  const named = { group: groupOf(ref), resource, ...namesOf(ref) };
  const scaled: Grant = { ...named, verbs: ['get', 'patch'], purpose, byNamespace: true };
  return [
    { ...named, verbs: watched, purpose: 'to read the state of a dependent resource' },
    scaled,
    ...(isPatchableWorkload(ref) ? [] : [{ ...scaled, resource: `${resource}/scale` }]),
  ];
};

/** Returns the rights that the prober needs in a seed under `settings`: watches in all namespaces, single reads and writes in the namespace of a shoot. */
export const proberGrants = (settings: ProberSettings, pluralOf: PluralOf): readonly Grant[] => {
  const served = (ref: RefTemplate, grantsOf: (resource: string) => readonly Grant[]) => {
    const resource = pluralOf(ref);
    return resource === undefined ? [] : grantsOf(resource);
  };
  return [
    ...sourceOf(settings).grants,
    {
      group: '',
      resource: 'namespaces',
      verbs: watched,
      purpose: 'to find paused shoots',
    },
    {
      group: '',
      resource: 'secrets',
      ...secretsNamed(settings),
      verbs: watched,
      purpose: 'to reach the API servers of shoots',
    },
    ...settings.dependentResources.flatMap((one) => served(one.ref, (resource) => forDependent(one, resource))),
    {
      group: 'coordination.k8s.io',
      resource: 'leases',
      names: [leaseNameOf('prober')],
      verbs: ['list'],
      purpose: 'to find another installation in the cluster; without it, none is found',
      optional: true,
    },
    eventGrant,
  ];
};

/** Rights that the prober needs in a shoot. Everybody may get `/version` (ClusterRole `system:public-info-viewer`). */
export const proberShootGrants: readonly Grant[] = [
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['list'],
    purpose: 'to check if kubelets renew them',
    namespace: 'kube-node-lease',
  },
  { group: '', resource: 'nodes', verbs: ['list'], purpose: 'to judge a shoot whose leases have expired' },
];

/** Returns the rights that `settings` need in a seed, with the kinds as it serves them. */
export const neededByProber = async (
  settings: ProberSettings,
  inquiry: DiscoveryAccess,
): Promise<readonly NeededRight[]> => {
  const namespace = await someNamespace(settings, inquiry);
  const plurals = new Map<string, string>();
  for (const { ref } of settings.dependentResources) {
    const found = await resolveKind(inquiry.client, ref, inquiry.options);
    if (found.kind === 'served') plurals.set(refKey(ref), found.resource);
  }
  const grants = proberGrants(settings, (ref) => plurals.get(refKey(ref)));
  return rightsOf(grants, namespace);
};
