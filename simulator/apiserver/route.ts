import type { SimKind } from './kind.ts';

/** Target of a path. `unknown` is a path of the API that is not served, `nowhere` one outside of the API. */
export type Route =
  | { readonly type: 'collection'; readonly kind: SimKind; readonly namespace?: string }
  | {
      readonly type: 'object';
      readonly kind: SimKind;
      readonly namespace: string;
      readonly name: string;
      readonly subresource?: string;
    }
  | { readonly type: 'version' | 'health' | 'legacyVersions' | 'groups' }
  | { readonly type: 'group'; readonly group: string }
  | { readonly type: 'resources'; readonly group: string; readonly version: string }
  | { readonly type: 'unknown' | 'nowhere' };

export const createCatalog = (kinds: readonly SimKind[]) => {
  const byPath = new Map(kinds.map((kind) => [`${kind.group}/${kind.version}/${kind.resource}`, kind]));
  const groups = [...new Set(kinds.map((kind) => kind.group))];
  const versions = new Map(
    groups.map((group) => [
      group,
      [...new Set(kinds.filter((kind) => kind.group === group).map((kind) => kind.version))],
    ]),
  );
  return {
    kinds,
    groups,
    /** True if all kinds of the group are custom. */
    isCustom: (group: string): boolean => kinds.every((kind) => kind.group !== group || kind.custom),
    find: (group: string, version: string, resource: string): SimKind | undefined =>
      byPath.get(`${group}/${version}/${resource}`),
    /** Served versions of a group, in the order of the kinds. */
    versions: (group: string): readonly string[] => versions.get(group) ?? [],
  };
};

export type Catalog = ReturnType<typeof createCatalog>;

const fixed: Readonly<Record<string, Route>> = {
  '/version': { type: 'version' },
  '/healthz': { type: 'health' },
  '/api': { type: 'legacyVersions' },
  '/apis': { type: 'groups' },
};

const objectRoute = (kind: SimKind, namespace: string, rest: readonly string[]): Route => {
  const [name, ...sub] = rest;
  if (name === undefined || name === '') return { type: 'unknown' };
  if (sub.length === 0) return { type: 'object', kind, namespace, name };
  return { type: 'object', kind, namespace, name, subresource: sub.join('/') };
};

const resourceRoute = (
  catalog: Catalog,
  prefix: { group: string; version: string },
  rest: readonly string[],
): Route => {
  const { group, version } = prefix;
  const [first, second, third, ...others] = rest;
  if (first === undefined) return { type: 'unknown' };
  if (first === 'namespaces' && second !== undefined && third !== undefined) {
    const kind = catalog.find(group, version, third);
    if (kind?.namespaced) {
      return others.length === 0 ? { type: 'collection', kind, namespace: second } : objectRoute(kind, second, others);
    }
    if (group !== '') return { type: 'unknown' };
  }
  const kind = catalog.find(group, version, first);
  if (kind === undefined) return { type: 'unknown' };
  if (second === undefined) return { type: 'collection', kind };
  return kind.namespaced ? { type: 'unknown' } : objectRoute(kind, '', rest.slice(1));
};

/** Returns the route of `path` (URI-encoded segments, no query) on a server of `catalog`. */
export const routeOf = (catalog: Catalog, path: string): Route => {
  const known = fixed[path];
  if (known !== undefined) return known;
  const [root, ...segments] = path.replace(/^\//, '').replace(/\/$/, '').split('/').map(decodeURIComponent);
  if (root === 'api') {
    const [version, ...rest] = segments;
    if (version !== 'v1') return { type: 'nowhere' };
    return rest.length === 0
      ? { type: 'resources', group: '', version }
      : resourceRoute(catalog, { group: '', version }, rest);
  }
  const [group, version, ...rest] = segments;
  if (root !== 'apis' || group === undefined || group === '' || !catalog.groups.includes(group)) {
    return { type: 'nowhere' };
  }
  if (version === undefined) return { type: 'group', group };
  if (!catalog.versions(group).includes(version)) return { type: 'nowhere' };
  if (rest.length === 0) return { type: 'resources', group, version };
  const route = resourceRoute(catalog, { group, version }, rest);
  return route.type === 'unknown' && catalog.isCustom(group) ? { type: 'nowhere' } : route;
};
