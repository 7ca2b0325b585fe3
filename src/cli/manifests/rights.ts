import { careGrants } from '../../care/index.ts';
import type { ComponentName } from '../../config/index.ts';
import { proberGrants } from '../../prober/index.ts';
import { leaseNameOf } from '../../process/index.ts';
import { type Grant, leaseGrants } from '../../process/rights/index.ts';
import { weederGrants } from '../../weeder/index.ts';
import type { SettingsByComponent } from '../configs.ts';

/** PolicyRule of `rbac.authorization.k8s.io/v1`. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Guesses the plural of a kind without a request to an API server (UnsafeGuessKindToResource in apimachinery's pkg/api/meta). */
export const guessResource = (kind: string): string => {
  const singular = kind.toLowerCase();
  if (singular.endsWith('s')) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
};

const verbOrder = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];

interface Line extends Pick<Grant, 'group' | 'verbs'> {
  readonly resources: readonly string[];
  readonly names: readonly string[];
}

/** Merges lines that differ only in `field`. */
const merge = (lines: readonly Line[], field: 'resources' | 'names' | 'verbs'): readonly Line[] => {
  const merged = new Map<string, Line>();
  for (const line of lines) {
    const key = JSON.stringify({ ...line, [field]: [] });
    const values = [...new Set([...(merged.get(key)?.[field] ?? []), ...line[field]])];
    const sorted = field === 'verbs' ? verbOrder.filter((verb) => values.includes(verb)) : values.toSorted();
    merged.set(key, { ...line, [field]: sorted });
  }
  return [...merged.values()];
};

/** Merges grants into few rules that grant exactly the same. The rules do not depend on the namespace in which they are bound. */
export const policyRules = (grants: readonly Grant[]): readonly PolicyRule[] => {
  const single = grants.flatMap(({ group, resource, names = [''], verbs }) =>
    names.map((name) => ({ group, resources: [resource], names: [name], verbs })),
  );
  const lines = merge(merge(merge(single, 'verbs'), 'names'), 'resources');
  return lines.map(({ group, resources, names, verbs }) => ({
    apiGroups: [group],
    resources,
    ...(names.includes('') ? {} : { resourceNames: names }),
    verbs,
  }));
};

/** Functions that return the minimal rights of a component in a seed. Rights of care in the garden and in shoots are granted there. */
export const seedRules: {
  readonly [Name in ComponentName]: (settings: SettingsByComponent[Name]) => readonly PolicyRule[];
} = {
  prober: (settings) => policyRules(proberGrants(settings, ({ kind }) => guessResource(kind))),
  weeder: () => policyRules(weederGrants),
  care: (settings) => policyRules(careGrants(settings)),
};

/** Returns the rights that leader election needs in the namespace of its Lease. */
export const leaseRules = (component: string): readonly PolicyRule[] =>
  policyRules(leaseGrants(leaseNameOf(component), ''));
