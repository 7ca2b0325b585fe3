import {
  type CareSettings,
  careExtensionKinds,
  heartbeatLeaseName,
  type ProberSettings,
  refKey,
  type ResourceRef,
  scalesInOneWrite,
} from '../../domain/index.ts';

/** `rbac.authorization.k8s.io/v1` PolicyRule. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Of what is never read one by one. */
const watched = ['list', 'watch'] as const;

const eventRule: PolicyRule = { apiGroups: [''], resources: ['events'], verbs: ['create'] };

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

/** Plural of a kind as far as it can be told without asking an API server (UnsafeGuessKindToResource in apimachinery's pkg/api/meta). */
export const guessResource = (kind: string): string => {
  const singular = kind.toLowerCase();
  if (singular.endsWith('s')) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
};

const ofDependents = (refs: readonly ResourceRef[]): readonly PolicyRule[] => {
  const byKind = new Map<string, ResourceRef[]>();
  for (const ref of refs) {
    const key = `${groupOf(ref.apiVersion)}/${ref.kind}`;
    byKind.set(key, [...(byKind.get(key) ?? []), ref]);
  }
  return [...byKind.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const resource = guessResource(first.kind);
    const apiGroups = [groupOf(first.apiVersion)];
    const resourceNames = [...new Set(same.map(({ name }) => name))].toSorted();
    const scale = { apiGroups, resources: [`${resource}/scale`], resourceNames, verbs: ['get', 'patch'] };
    return [
      { apiGroups, resources: [resource], resourceNames, verbs: ['get', ...watched, 'patch'] },
      ...(same.every(scalesInOneWrite) ? [] : [scale]),
    ];
  });
};

/** None of its own where it is scaled as well. */
const ofApiServer = ({ apiServerRef: ref, dependentResources }: ProberSettings): readonly PolicyRule[] => {
  if (dependentResources.some((dependent) => refKey(dependent.ref) === refKey(ref))) return [];
  const resources = [guessResource(ref.kind)];
  return [{ apiGroups: [groupOf(ref.apiVersion)], resources, resourceNames: [ref.name], verbs: watched }];
};

/** What the prober needs in a seed under these settings, and no more. */
export const proberRules = (settings: ProberSettings): readonly PolicyRule[] => {
  const { kubeConfigSecretName, outsidePath, dependentResources } = settings;
  const secrets = [kubeConfigSecretName, ...(outsidePath === undefined ? [] : [outsidePath.kubeConfigSecretName])];
  return [
    { apiGroups: ['extensions.gardener.cloud'], resources: ['clusters'], verbs: watched },
    {
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: [...new Set(secrets)].toSorted(),
      verbs: watched,
    },
    { apiGroups: ['machine.sapcloud.io'], resources: ['machines'], verbs: ['list'] },
    ...ofDependents(dependentResources.map(({ ref }) => ref)),
    ...ofApiServer(settings),
    eventRule,
  ];
};

/** What the weeder needs in a seed, whatever is configured. */
export const weederRules: readonly PolicyRule[] = [
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: watched },
  { apiGroups: [''], resources: ['pods'], verbs: [...watched, 'delete'] },
  eventRule,
];

/** What care needs in a seed under these settings; what it needs in the garden and in shoots is granted there. */
export const careRules = ({ kubeConfigSecretName }: CareSettings): readonly PolicyRule[] => {
  const verbs = watched;
  const extensions = ['clusters', ...careExtensionKinds.map(({ resource }) => resource)];
  return [
    { apiGroups: ['extensions.gardener.cloud'], resources: extensions, verbs },
    { apiGroups: [''], resources: ['secrets'], resourceNames: [kubeConfigSecretName], verbs },
    { apiGroups: ['apps'], resources: ['deployments'], verbs },
    { apiGroups: ['druid.gardener.cloud'], resources: ['etcds'], verbs },
    { apiGroups: ['resources.gardener.cloud'], resources: ['managedresources'], verbs },
    { apiGroups: ['machine.sapcloud.io'], resources: ['machinedeployments', 'machines'], verbs },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: [heartbeatLeaseName], verbs },
  ];
};

/** What leader election needs in the namespace of its Lease. `create` cannot be narrowed to a name. */
export const leaseRules = (lease: string): readonly PolicyRule[] => [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [lease],
    verbs: ['get', 'update'],
  },
];
