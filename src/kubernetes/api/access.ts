import type { NamespacedName } from './resource-ref.ts';
import type { Call } from './call.ts';
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

const review = (
  kind: 'SelfSubjectAccessReview' | 'SubjectAccessReview',
  right: Right,
  subject: object,
): Call<boolean> => {
  const { verb, group, resource: path, name, namespace } = right;
  const [resource, subresource] = path.split('/');
  return {
    method: 'POST',
    path: `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`,
    repeatable: true,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind,
      spec: { ...subject, resourceAttributes: { verb, group, resource, subresource, name, namespace } },
    },
    decode: decodeReview,
  };
};

/**
 * Asks the API server whether we have a right; it stores nothing. Everybody who is known to it may ask (`system:basic-user`). An empty name or
 * namespace means all of them (`authorization.k8s.io/v1`, ResourceAttributes).
 */
export const reviewAccess = (right: Right): Call<boolean> => review('SelfSubjectAccessReview', right, {});

/** The same about a ServiceAccount, with the user and the groups that its tokens stand for (`apiserver/pkg/authentication/serviceaccount`). */
export const reviewAccessOf = ({ namespace, name }: NamespacedName, right: Right): Call<boolean> => {
  const accounts = 'system:serviceaccounts';
  return review('SubjectAccessReview', right, {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: [accounts, `${accounts}:${namespace}`, 'system:authenticated'],
  });
};
