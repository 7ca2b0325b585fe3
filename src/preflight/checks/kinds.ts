import { nearest } from '../../config/rules/index.ts';
import { type ResourceRef, refKey } from '../../kubernetes/api/resource-ref.ts';
import { isPatchableWorkload } from '../../kubernetes/api/scalable.ts';
import type { DependentResource } from '../../prober/index.ts';
import { type PreflightCheck, type PreflightFinding, type SeedRead, whenRead } from './check.ts';

/** Result of discovery for a kind. */
export type FoundKind =
  | { readonly kind: 'served'; readonly resource: string; readonly namespaced: boolean; readonly hasScale: boolean }
  /** `hint`: a served kind or version that may have been meant. */
  | { readonly kind: 'not-served'; readonly problem: string; readonly hint?: string };

/** Kinds and versions that an API server serves, near a kind that it does not serve. */
export interface Neighbours {
  /** Kinds of the same group version. Undefined if that is not served. */
  readonly kinds: readonly string[] | undefined;
  /** Versions of the same group, in the form of `apiVersion`. */
  readonly versions: readonly string[];
}

/** Suggests a replacement for a kind that is not served. Undefined if nothing is similar. */
export const hintAt = (kind: string, { kinds, versions }: Neighbours): string | undefined => {
  if (kinds === undefined) {
    return versions.length === 0 ? undefined : `the group is served as ${versions.join(' and ')}`;
  }
  const near = nearest(kind, kinds);
  return near === undefined ? undefined : `it serves ${near}`;
};

/** A kind that the prober works on. */
export interface KindInput {
  readonly use:
    | { readonly kind: 'cluster' | 'machine' }
    | ({ readonly kind: 'dependent' } & Pick<DependentResource, 'ref' | 'optional'>);
  readonly found: SeedRead<FoundKind>;
}

const dependentProblem = (
  ref: ResourceRef,
  found: Extract<FoundKind, { readonly kind: 'served' }>,
): string | undefined => {
  if (!found.namespaced) return 'it is not namespaced, so a shoot cannot have its own';
  if (!isPatchableWorkload(ref) && !found.hasScale) return 'it has no scale subresource';
  return undefined;
};

const judgeUse = ({ use }: KindInput, found: FoundKind): PreflightFinding | undefined => {
  if (found.kind === 'not-served') {
    const detail = found.hint === undefined ? found.problem : `${found.problem}; ${found.hint}`;
    switch (use.kind) {
      case 'cluster':
        return { code: 'cluster-not-served', detail };
      case 'machine':
        return { code: 'machines-not-served', detail };
      case 'dependent':
        return use.optional ? undefined : { code: 'kind-not-served', detail: `${refKey(use.ref)}: ${detail}` };
    }
  }
  if (use.kind !== 'dependent') return undefined;
  const problem = dependentProblem(use.ref, found);
  return problem === undefined
    ? undefined
    : { code: 'kind-not-scalable', detail: `${refKey(use.ref)} cannot be scaled: ${problem}` };
};

const nameOf = ({ use }: KindInput): string => {
  if (use.kind === 'cluster') return 'Cluster of Gardener';
  return 'ref' in use ? refKey(use.ref) : 'Machine of machine-controller-manager';
};

const detailOf = ({ use }: KindInput, found: FoundKind): string => {
  const isOptional = use.kind === 'dependent' && use.optional;
  if (found.kind === 'served') return `served as ${found.resource}`;
  return isOptional ? 'not served; it is optional' : 'not served';
};

/** Checks that the kinds in the configuration are served, and that those to scale can be scaled. */
export const checkKinds = (kinds: readonly KindInput[]): readonly PreflightCheck[] =>
  kinds.map((input) =>
    whenRead(input.found, { subject: 'kinds', name: nameOf(input) }, (found) => {
      const finding = judgeUse(input, found);
      return { detail: detailOf(input, found), findings: finding === undefined ? [] : [finding] };
    }),
  );
