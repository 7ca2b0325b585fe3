import type { NeededRight } from './check-rights.ts';

/** Verbs on a resource that a component uses. Its rights check, its manifests and docs/rights.md are generated from its grants. */
export interface Grant {
  /** API group; empty for the core group. */
  readonly group: string;
  /** Plural name, with the subresource if any: `deployments/scale`. */
  readonly resource: string;
  /** Names of the objects. Absent for all objects. */
  readonly names?: readonly string[];
  readonly verbs: readonly string[];
  /** Purpose: `to ...`. */
  readonly purpose: string;
  /** Namespace of the objects. Absent for all namespaces, or if the resource has none. */
  readonly namespace?: string;
  /** True if each request concerns one namespace of a control plane, so that the grant may be given namespace by namespace. */
  readonly byNamespace?: true;
  /** True if the component only omits something without it. It logs that once, and the rights check leaves it out. */
  readonly optional?: true;
}

export const watched = ['list', 'watch'] as const;

export const eventGrant: Grant = {
  group: '',
  resource: 'events',
  verbs: ['create'],
  purpose: 'to record Events; without it, none are recorded',
  byNamespace: true,
  optional: true,
};

/** Grants of leader election. RBAC cannot limit `create` to a name, because the object does not exist yet. */
export const leaseGrants = (lease: string, namespace: string): readonly Grant[] => {
  const leases = { group: 'coordination.k8s.io', resource: 'leases', purpose: 'to elect a leader', namespace };
  return [
    { ...leases, verbs: ['create'] },
    { ...leases, names: [lease], verbs: ['get', 'update'] },
  ];
};

/** Returns the rights to check, without those of optional grants. `namespace` is that of one control plane; absent for all of them. */
export const rightsOf = (grants: readonly Grant[], namespace?: string): readonly NeededRight[] =>
  grants.flatMap((grant) => {
    if (grant.optional === true) return [];
    const { group, resource, purpose, verbs } = grant;
    const where = grant.namespace ?? (grant.byNamespace === true ? namespace : undefined);
    const place = where === undefined ? {} : { namespace: where };
    const names = grant.names?.map((name) => ({ name })) ?? [{}];
    return names.flatMap((name) =>
      verbs.map((verb) => ({ right: { verb, group, resource, ...name, ...place }, purpose })),
    );
  });
