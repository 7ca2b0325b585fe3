import type { NeededRight } from './check-rights.ts';

/** Verbs on a resource that a component uses. Its permission check, its manifests and docs/rights.md are made from its grants. */
export interface Grant {
  /** API group; empty for the core group. */
  readonly group: string;
  /** Plural, with the subresource where there is one: `deployments/scale`. */
  readonly resource: string;
  /** Names of the only objects; absent: whatever the name. */
  readonly names?: readonly string[];
  readonly verbs: readonly string[];
  /** What it is used for: `to ...`. */
  readonly purpose: string;
  /** The only namespace; absent: all, or the resource has none. */
  readonly namespace?: string;
  /** Used in one namespace of a control plane at a time, so that it may be granted namespace by namespace. */
  readonly byNamespace?: true;
  /** The component leaves something out without it, says so once, and does not ask for it. */
  readonly optional?: true;
}

export const watched = ['list', 'watch'] as const;

export const eventGrant: Grant = {
  group: '',
  resource: 'events',
  verbs: ['create'],
  purpose: 'to say in Events what it did; they are left out without it',
  byNamespace: true,
  optional: true,
};

/** What leader election takes. `create` cannot be narrowed to a name: the object is not there yet. */
export const leaseGrants = (lease: string, namespace: string): readonly Grant[] => {
  const leases = { group: 'coordination.k8s.io', resource: 'leases', purpose: 'to elect a leader', namespace };
  return [
    { ...leases, verbs: ['create'] },
    { ...leases, names: [lease], verbs: ['get', 'update'] },
  ];
};

/** The rights to check: those of optional grants are not. `namespace` is that of some control plane; absent: all of them. */
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
