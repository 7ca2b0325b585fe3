import { nearest } from '../../config/rules/index.ts';
import { formatRight } from '../../kubernetes/api/access.ts';
import { podOfHolder } from '../../kubernetes/api/pod-of-holder.ts';
import { refKey } from '../../kubernetes/api/resource-ref.ts';
import { isPatchableWorkload } from '../../kubernetes/api/scalable.ts';
import type { DependentResource } from '../../prober/index.ts';
import type { NeededRight } from '../../process/rights/index.ts';
import { plural } from '../../status/state/words.ts';
import type { CheckResult, PreflightCheck, PreflightFinding } from './check.ts';

export interface SeedAnswer {
  /** Kubernetes version, such as `v1.33.2`. */
  readonly version: string;
  readonly roundTripMs: number;
  /** The seed's clock minus ours, within 1.5 s. Absent if the response was too slow to compare. */
  readonly skewMs?: number;
}

/** Tells who leads the installed prober, and warns if nobody does, or one in each of several namespaces. `leaders` are by namespace; empty where none leads. */
export const checkProbers = (leaders: ReadonlyMap<string, string>): readonly PreflightCheck[] => {
  if (leaders.size === 0) return [];
  const about = { subject: 'seed', name: 'installed prober' } as const;
  const active = Array.from(leaders).filter(([, leader]) => leader !== '');
  const [[namespace, leader] = ['', ''], ...others] = active;
  if (namespace === '') {
    const detail = `nobody holds the leader Lease in namespace ${[...leaders.keys()].join(', ')}`;
    return [{ ...about, detail: 'nobody leads', findings: [{ code: 'no-leader', detail }] }];
  }
  if (others.length === 0) {
    return [{ ...about, detail: `${podOfHolder(leader)} leads, in namespace ${namespace}`, findings: [] }];
  }
  const names = active.map(([place, name]) => `${place} (${name})`).join(', ');
  const detail = `probers are active in several namespaces: ${names}`;
  const count = `${String(active.length)} are active`;
  return [{ ...about, detail: count, findings: [{ code: 'several-probers', detail }] }];
};

/** Checks that the replicas of the installed prober run the same image. `images` are by pod. */
export const checkImages = (images: ReadonlyMap<string, string>): CheckResult => {
  const pods = Map.groupBy(images.keys(), (pod) => images.get(pod) ?? '');
  const [image = ''] = pods.keys();
  if (pods.size === 1) return { detail: `${plural(images.size, 'replica')} of ${image}`, findings: [] };
  const each = Array.from(pods, ([name, of]) => `${name} (${of.join(', ')})`).join(', ');
  return {
    detail: `${String(pods.size)} images`,
    findings: [{ code: 'several-versions', detail: `the replicas of the prober run different images: ${each}` }],
  };
};

/** Largest difference of clocks that is ignored. The prober warns about larger ones, too. */
export const warnSkewMs = 5_000;

/** Formats a skew: `12.3s ahead of`, `12.3s behind`. */
export const skewInWords = (ms: number): string =>
  `${(Math.abs(ms) / 1_000).toFixed(1)}s ${ms < 0 ? 'behind' : 'ahead of'}`;

export const apiServer = { subject: 'seed', name: 'API server' } as const;

const judgeClock = (skewMs: number | undefined): CheckResult => {
  if (skewMs === undefined) {
    const detail = 'it responded too slowly to compare clocks';
    return { detail: 'could not be checked', findings: [{ code: 'read-failed', detail }] };
  }
  if (Math.abs(skewMs) <= warnSkewMs) return { detail: 'agrees within 5s', findings: [] };
  const detail = `the clock of the seed's API server is ${skewInWords(skewMs)} this machine's`;
  return { detail: 'differs', findings: [{ code: 'seed-clock-skew', detail }] };
};

/** Tells how the API server of the seed responds, and checks that its clock agrees with ours. */
export const checkSeed = ({ version, roundTripMs, skewMs }: SeedAnswer): readonly PreflightCheck[] => [
  { ...apiServer, detail: `${version} responds in ${String(Math.ceil(roundTripMs))} ms`, findings: [] },
  { subject: 'seed', name: 'clock, compared with this machine', ...judgeClock(skewMs) },
];

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

/** What the prober does with a kind. */
export type KindUse = 'cluster' | 'machine' | Pick<DependentResource, 'ref' | 'optional'>;

const unserved = (use: KindUse, detail: string): readonly PreflightFinding[] => {
  if (use === 'cluster') return [{ code: 'cluster-not-served', detail }];
  if (use === 'machine') return [{ code: 'machines-not-served', detail }];
  return use.optional ? [] : [{ code: 'kind-not-served', detail: `${refKey(use.ref)}: ${detail}` }];
};

const unscalable = (use: KindUse, { namespaced, hasScale }: Extract<FoundKind, { kind: 'served' }>) => {
  if (use === 'cluster' || use === 'machine') return [];
  const problem = !namespaced
    ? 'it is not namespaced, so a shoot cannot have its own'
    : !isPatchableWorkload(use.ref) && !hasScale
      ? 'it has no scale subresource'
      : undefined;
  if (problem === undefined) return [];
  return [{ code: 'kind-not-scalable', detail: `${refKey(use.ref)} cannot be scaled: ${problem}` } as const];
};

/** Checks that a kind in the configuration is served, and that one to scale can be scaled. */
export const checkKind = (use: KindUse, found: FoundKind): CheckResult => {
  if (found.kind === 'served') return { detail: `served as ${found.resource}`, findings: unscalable(use, found) };
  const { problem, hint } = found;
  const isOptional = typeof use === 'object' && use.optional;
  return {
    detail: isOptional ? 'not served; it is optional' : 'not served',
    findings: unserved(use, hint === undefined ? problem : `${problem}; ${hint}`),
  };
};

/** The rights of the user who runs the command. */
export const ownRights = 'yours';

/** Rights that were checked. */
export interface CheckedRights {
  readonly needed: number;
  readonly missing: readonly NeededRight[];
}

const nothingGranted = (subject: string, rights: string): string =>
  subject === ownRights
    ? `you have none of the ${rights}: --rights-of=NAMESPACE/NAME checks those of the prober's ServiceAccount`
    : `${subject} has none of the ${rights}: it is not installed yet, or has another name (--rights-of)`;

/** Checks that `subject`, a ServiceAccount such as `garden/dwd-prober` or `ownRights`, has the rights in the seed that the configuration needs. */
export const checkRights = (subject: string, { needed, missing }: CheckedRights): CheckResult => {
  const isNothing = missing.length === needed && needed > 0;
  const details = isNothing
    ? [nothingGranted(subject, plural(needed, 'right'))]
    : missing.map(({ right, purpose }) => `${purpose}: ${formatRight(right)}`);
  return {
    detail: `${String(needed - missing.length)} of ${plural(needed, 'right')} granted`,
    findings: details.map((detail) => ({ code: 'right-missing', detail })),
  };
};
