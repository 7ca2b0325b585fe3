import type { Grant } from '../../../src/process/rights/grants.ts';
import type { RbacRule } from '../../envtest/access.ts';
import type { AuditedRequest } from '../../envtest/audit.ts';

/** Returns the RBAC rules that give these rights and no others. */
export const rulesOf = (grants: readonly Grant[]): readonly RbacRule[] =>
  grants.map(({ group, resource, names, verbs, namespace }) => ({
    ...{ apiGroups: [group], resources: [resource], resourceNames: names, verbs, namespace },
  }));

/** Compares granted rights with what a user has asked for: rights that no request needed, and requests that were refused. */
export const compareRights = (grants: readonly Grant[], requests: readonly AuditedRequest[]) => {
  const isUsed = (right: Omit<Grant, 'verbs' | 'purpose'>, verb: string, name: string | undefined): boolean =>
    requests.some(
      (request) =>
        request.verb === verb &&
        request.resource === `${right.resource}${right.group === '' ? '' : `.${right.group}`}` &&
        (name === undefined || request.name === name),
    );
  const unused = grants.flatMap((grant) =>
    (grant.names ?? [undefined]).flatMap((name) =>
      grant.verbs
        .filter((verb) => !isUsed(grant, verb, name))
        .map((verb) => [verb, grant.resource, name].filter((word) => word !== undefined).join(' ')),
    ),
  );
  const refused = requests.filter(({ status }) => status === 403).map(({ verb, uri }) => `${verb} ${uri}`);
  return { unused, refused };
};
