import type { SimKind } from './kind.ts';
import type { JsonMap } from './object.ts';
import type { Catalog, Route } from './route.ts';

/** Version that the simulated server reports. Its behaviour is compared with a real server of this minor version. */
const simulatedVersion = { major: '1', minor: '36', gitVersion: 'v1.36.3' } as const;

const groupVersion = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`);

const groupOf = (catalog: Catalog, name: string): JsonMap => {
  const versions = catalog.versions(name).map((version) => ({ groupVersion: groupVersion(name, version), version }));
  return { name, versions, preferredVersion: versions[0] };
};

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const partVerbs = ['get', 'patch', 'update'];

const resourcesOf = (kind: SimKind): readonly JsonMap[] => {
  const { resource, singular, namespaced } = kind;
  const own = { name: resource, singularName: singular, namespaced, kind: kind.kind, verbs };
  const part = (name: string, type: JsonMap): JsonMap => ({
    name: `${resource}/${name}`,
    singularName: '',
    namespaced,
    ...type,
    verbs: partVerbs,
  });
  return [
    own,
    ...(kind.scale === undefined ? [] : [part('scale', { group: 'autoscaling', version: 'v1', kind: 'Scale' })]),
    ...(kind.status ? [part('status', { kind: kind.kind })] : []),
  ];
};

/** Response body of a discovery path, undefined for other paths; https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api */
export const discoveryOf = (catalog: Catalog, route: Route): JsonMap | undefined => {
  switch (route.type) {
    case 'version':
      return {
        ...simulatedVersion,
        gitCommit: '',
        gitTreeState: 'clean',
        buildDate: '1970-01-01T00:00:00Z',
        goVersion: '',
        compiler: 'gc',
        platform: 'linux/amd64',
      };
    case 'legacyVersions':
      return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
    case 'groups': {
      const groups = catalog.groups.filter((group) => group !== '').map((group) => groupOf(catalog, group));
      return { kind: 'APIGroupList', apiVersion: 'v1', groups };
    }
    case 'group':
      return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(catalog, route.group) };
    case 'resources': {
      const kinds = catalog.kinds.filter((kind) => kind.group === route.group && kind.version === route.version);
      return {
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: groupVersion(route.group, route.version),
        resources: kinds.flatMap(resourcesOf),
      };
    }
    case 'collection':
    case 'health':
    case 'nowhere':
    case 'object':
    case 'unknown':
      return undefined;
  }
};
