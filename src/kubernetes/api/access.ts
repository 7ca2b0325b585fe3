import type { NamespacedName } from './resource-ref.ts';
import type { Call } from './call.ts';
import { decodeObject, optionalBoolean } from './decode.ts';

/** A permission that a request to an API server needs, in the terms of RBAC rules. */
export interface Right {
  readonly verb: string;
  /** API group; empty for the core group. */
  readonly group: string;
  /** Plural name, with the subresource if there is one: `deployments/scale`. */
  readonly resource: string;
  /** Absent: objects of any name. */
  readonly name?: string;
  /** Absent: all namespaces, or a cluster-scoped resource. */
  readonly namespace?: string;
}

/** Formats a right as the API server does in its own refusals (`apiserver/pkg/endpoints/handlers/responsewriters/errors.go`). */
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
 * Checks with the API server if we have a right; nothing is stored. Every authenticated user may do so (`system:basic-user`). An empty name or
 * namespace means all of them (`authorization.k8s.io/v1`, ResourceAttributes).
 */
export const reviewAccess = (right: Right): Call<boolean> => review('SelfSubjectAccessReview', right, {});

/** Checks the same for a ServiceAccount, by the user and the groups of its tokens (`apiserver/pkg/authentication/serviceaccount`). */
export const reviewAccessOf = ({ namespace, name }: NamespacedName, right: Right): Call<boolean> => {
  const accounts = 'system:serviceaccounts';
  return review('SubjectAccessReview', right, {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: [accounts, `${accounts}:${namespace}`, 'system:authenticated'],
  });
};
