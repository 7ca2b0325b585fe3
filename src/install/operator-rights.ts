import { groupOf } from '../kubernetes/api/resource-ref.ts';
import { isPatchableWorkload } from '../kubernetes/api/scalable.ts';
import { type DependentResource, type PluralOf, type ProberSettings, namesOf, secretsNamed } from '../prober/index.ts';
import { type Grant, watched } from '../process/rights/index.ts';

const see = 'to see which shoots are held, since when, and why';
const pausing = 'to pause and resume shoots';
const restore = 'to release held resources';
const preflight = 'to check a seed before the prober runs there';

const forDependent = ({ ref }: DependentResource, resource: string): readonly Grant[] => {
  const named = { group: groupOf(ref), resource, ...namesOf(ref) };
  return [
    { ...named, verbs: ['get', ...watched], purpose: see },
    { ...named, verbs: ['patch'], purpose: restore },
    ...(isPatchableWorkload(ref)
      ? []
      : [{ ...named, resource: `${resource}/scale`, verbs: ['get', 'patch'], purpose: restore }]),
  ];
};

/** Rights that an operator needs in all namespaces of a seed to observe and control a prober with these settings. */
export const operatorGrants = (settings: ProberSettings, pluralOf: PluralOf): readonly Grant[] => [
  // Also on seeds without this kind: without the right, the response is Forbidden in place of NotFound.
  { group: 'extensions.gardener.cloud', resource: 'clusters', verbs: ['get', ...watched], purpose: see },
  { group: '', resource: 'namespaces', verbs: ['get', ...watched], purpose: see },
  { group: '', resource: 'namespaces', verbs: ['patch'], purpose: pausing },
  ...settings.dependentResources.flatMap((dependent) => {
    const resource = pluralOf(dependent.ref);
    return resource === undefined ? [] : forDependent(dependent, resource);
  }),
  { group: '', resource: 'secrets', ...secretsNamed(settings), verbs: ['list'], purpose: preflight },
  {
    ...{ group: 'apps', resource: 'deployments', names: ['kube-controller-manager'] },
    ...{ verbs: ['list'], purpose: preflight },
  },
  { group: 'authorization.k8s.io', resource: 'subjectaccessreviews', verbs: ['create'], purpose: preflight },
];

/** Rights that an operator needs in the namespace of the prober. */
export const operatorHomeGrants = (leases: readonly string[], namespace: string): readonly Grant[] =>
  [
    { resource: 'pods', verbs: ['get', ...watched], purpose: 'to see which replicas run, and which versions' },
    { resource: 'configmaps', verbs: ['list'], purpose: 'to release held resources in the configured order' },
    { resource: 'pods/proxy', verbs: ['get'], purpose: 'to request the status of the leader' },
    {
      group: 'coordination.k8s.io',
      resource: 'leases',
      names: leases,
      verbs: ['get'],
      purpose: 'to see which replica leads',
    },
  ].map((grant) => ({ group: '', namespace, ...grant }));
