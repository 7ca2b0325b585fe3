import type { Kube, KubeRequest } from '../../src/kubernetes/api/kube.ts';
import { isWatch } from '../apiserver/index.ts';

export interface RequestCounts {
  /** Number of requests so far; with a filter, those of its verb and resource. */
  total(filter?: { readonly verb?: string; readonly resource?: string }): number;
  /** Counts by `verb resource`, such as `list leases` or `patch deployments/scale`. */
  readonly byKey: ReadonlyMap<string, number>;
  reset(): void;
}

export interface CountingKube extends Kube {
  readonly counts: RequestCounts;
}

export interface RequestKind {
  /** Verb as RBAC names it: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb: string;
  /** Plural name with the subresource (`deployments/scale`), or the path itself if it is not of a resource (`/version`). */
  readonly resource: string;
}

const writeVerbs: Readonly<Record<Exclude<KubeRequest['method'], 'GET'>, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Subresources of a namespace: in a path they look like resources in the namespace. */
const namespaceParts = ['status', 'finalize'];

/** Returns resource, name and subresource of a path, which follow `/api/VERSION/` or `/apis/GROUP/VERSION/`. */
const splitPath = (path: string): readonly string[] => {
  const segments = path.slice(1).split('/');
  const rest = segments[0] === 'api' ? segments.slice(2) : segments[0] === 'apis' ? segments.slice(3) : [];
  const inNamespace = rest[0] === 'namespaces' && rest.length > 2 && !namespaceParts.includes(rest[2] ?? '');
  return inNamespace ? rest.slice(2) : rest;
};

/** Verb and resource of a request, without a list of kinds; https://kubernetes.io/docs/reference/access-authn-authz/authorization/ */
export const requestKind = (request: Pick<KubeRequest, 'method' | 'path' | 'query'>): RequestKind => {
  const { method, path, query = {} } = request;
  const [resource, name, ...part] = splitPath(path);
  if (resource === undefined) return { verb: method === 'GET' ? 'get' : writeVerbs[method], resource: path };
  const full = [resource, ...part].join('/');
  if (method === 'GET') return { verb: isWatch(query) ? 'watch' : name === undefined ? 'list' : 'get', resource: full };
  return { verb: method === 'DELETE' && name === undefined ? 'deletecollection' : writeVerbs[method], resource: full };
};

/** Returns `kube` with a counter that counts each request when it is made. */
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
