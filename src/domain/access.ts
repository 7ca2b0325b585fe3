import type { Call } from './calls.ts';
import { decodeObject, optionalBoolean } from './decode.ts';

/** What a request to an API server takes, as RBAC rules name it. */
export interface Right {
  readonly verb: string;
  /** API group; empty for the core group. */
  readonly group: string;
  /** Plural, with the subresource where there is one: `deployments/scale`. */
  readonly resource: string;
  /** Absent: whatever the name. */
  readonly name?: string;
  /** Absent: in all namespaces, or the resource has none. */
  readonly namespace?: string;
}

/** In the words of the API server's own refusals (`apiserver/pkg/endpoints/handlers/responsewriters/errors.go`). */
export const formatRight = ({ verb, group, resource, name, namespace }: Right): string =>
  [
    `${verb} resource "${resource}"`,
    ...(name === undefined ? [] : [`"${name}"`]),
    `in API group "${group}"`,
    namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`,
  ].join(' ');

const decodeReview = (json: unknown): boolean => {
  const { status } = decodeObject(json, 'review');
  return optionalBoolean(decodeObject(status, 'review.status').allowed, 'review.status.allowed') ?? false;
};

/**
 * Asks the API server whether we have a right; it stores nothing. Everybody who is known to it may ask (`system:basic-user`). An empty name or
 * namespace means all of them (`authorization.k8s.io/v1`, ResourceAttributes).
 */
export const reviewAccess = ({ verb, group, resource: path, name, namespace }: Right): Call<boolean> => {
  const [resource, subresource] = path.split('/');
  return {
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    repeatable: true,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb, group, resource, subresource, name, namespace } },
    },
    decode: decodeReview,
  };
};
