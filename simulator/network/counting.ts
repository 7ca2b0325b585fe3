import type { Kube, KubeRequest } from '../../src/kubernetes/api/kube.ts';

export interface RequestCounts {
  /** Requests so far, of one verb and resource where they are given. */
  total(filter?: { readonly verb?: string; readonly resource?: string }): number;
  /** By `verb resource`, such as `list leases` or `patch deployments/scale`. */
  readonly byKey: ReadonlyMap<string, number>;
  reset(): void;
}

export interface CountingKube extends Kube {
  readonly counts: RequestCounts;
}

export interface RequestKind {
  /** As RBAC names them: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  /** Plural, with its subresource: `deployments/scale`. The path itself for what is no resource, such as `/version`. */
  readonly resource: string;
}

const writeVerbs: Readonly<Record<Exclude<KubeRequest['method'], 'GET'>, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Subresources of a namespace, which a path cannot tell from resources in it. */
const namespaceParts = ['status', 'finalize'];

/** Resource, name and subresource of what lies behind `/api/VERSION/` or `/apis/GROUP/VERSION/`. */
const splitPath = (path: string): readonly string[] => {
  const segments = path.slice(1).split('/');
  const rest = segments[0] === 'api' ? segments.slice(2) : segments[0] === 'apis' ? segments.slice(3) : [];
  const inNamespace = rest[0] === 'namespaces' && rest.length > 2 && !namespaceParts.includes(rest[2] ?? '');
  return inNamespace ? rest.slice(2) : rest;
};

/** Verb and resource of a request, by its path alone; https://kubernetes.io/docs/reference/access-authn-authz/authorization/ */
export const requestKind = (request: Pick<KubeRequest, 'method' | 'path' | 'query'>): RequestKind => {
  const { method, path, query } = request;
  const [resource, name, ...part] = splitPath(path);
  if (resource === undefined) return { verb: method === 'GET' ? 'get' : writeVerbs[method], resource: path };
  const full = [resource, ...part].join('/');
  const watch = query?.watch === 'true' || query?.watch === '1';
  if (method === 'GET') return { verb: watch ? 'watch' : name === undefined ? 'list' : 'get', resource: full };
  return { verb: method === 'DELETE' && name === undefined ? 'deletecollection' : writeVerbs[method], resource: full };
};

/** `kube`, with every request counted as it is made. */
export const withCounting = (kube: Kube): CountingKube => {
  const byKey = new Map<string, number>();
  const counts: RequestCounts = {
    byKey,
    total(filter = {}) {
      let sum = 0;
      for (const [key, count] of byKey) {
        const [verb, resource] = key.split(' ');
        if ((filter.verb ?? verb) === verb && (filter.resource ?? resource) === resource) sum += count;
      }
      return sum;
    },
    reset: () => byKey.clear(),
  };
  return {
    counts,
    request(request) {
      const { verb, resource } = requestKind(request);
      const key = `${verb} ${resource}`;
      byKey.set(key, (byKey.get(key) ?? 0) + 1);
      return kube.request(request);
    },
  };
};
