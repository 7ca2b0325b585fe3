import { type ResourceRef, groupOf } from '../kubernetes/api/resource-ref.ts';
import { scalesInOneWrite } from '../kubernetes/api/scalable.ts';
import { type PluralOf, type ProberSettings, secretNames } from '../prober/index.ts';
import { type Grant, watched } from '../process/index.ts';

const see = 'to see which shoots are held, since when, and why';
const pausing = 'to pause and resume shoots';
const restore = 'to release what is held';
const preflight = 'to check a seed before the prober runs there';

const forDependent = (ref: ResourceRef, resource: string): readonly Grant[] => {
  const named = { group: groupOf(ref), resource, names: [ref.name] };
  return [
    { ...named, verbs: ['get', ...watched], purpose: see },
    { ...named, verbs: ['patch'], purpose: restore },
    ...(scalesInOneWrite(ref)
      ? []
      : [{ ...named, resource: `${resource}/scale`, verbs: ['get', 'patch'], purpose: restore }]),
  ];
};

/** What a person needs in all namespaces of a seed to see and to steer a prober with these settings. */
export const operatorGrants = (settings: ProberSettings, pluralOf: PluralOf): readonly Grant[] => [
  { group: 'extensions.gardener.cloud', resource: 'clusters', verbs: ['get', ...watched], purpose: see },
  { group: '', resource: 'namespaces', verbs: ['get', ...watched], purpose: see },
  { group: '', resource: 'namespaces', verbs: ['patch'], purpose: pausing },
  ...settings.dependentResources.flatMap(({ ref }) => {
    const resource = pluralOf(ref);
    return resource === undefined ? [] : forDependent(ref, resource);
  }),
  { group: '', resource: 'secrets', names: secretNames(settings), verbs: ['list'], purpose: preflight },
  {
    ...{ group: 'apps', resource: 'deployments', names: ['kube-controller-manager'] },
    ...{ verbs: ['get', 'list'], purpose: preflight },
  },
  { group: 'authorization.k8s.io', resource: 'subjectaccessreviews', verbs: ['create'], purpose: preflight },
];

/** The same in the namespace where the prober runs. */
export const operatorHomeGrants = (leases: readonly string[], namespace: string): readonly Grant[] =>
  [
    { resource: 'pods', verbs: ['get', ...watched], purpose: 'to see which replicas run, and which versions' },
    { resource: 'pods/proxy', verbs: ['get'], purpose: 'to ask the leader what only it knows' },
    { group: 'coordination.k8s.io', resource: 'leases', names: leases, verbs: ['get'], purpose: 'to see who leads' },
  ].map((grant) => ({ group: '', namespace, ...grant }));
