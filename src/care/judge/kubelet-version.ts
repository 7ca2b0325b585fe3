/** Result of the comparison of a kubelet's version with that of its worker pool. `mismatch`: the same minor version, but an older patch or pre-release. */
export type KubeletVersionState = 'fits' | 'mismatch' | 'unreadable';

interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** Identifiers of the pre-release; empty for a release. */
  readonly pre: readonly string[];
}

/** A full version (semver.org), with or without `v`. */
const grammar = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

const parse = (text: string): Version | undefined => {
  const match = grammar.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch, pre = ''] = match;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), pre: pre === '' ? [] : pre.split('.') };
};

/** Compares identifiers of pre-releases: numbers by value, others as texts; in ASCII digits come first (semver.org, 11.4), and so does an absent one. */
const compareIdentifiers = (a = '', b: string): number => {
  if (/^\d+$/.test(a) && /^\d+$/.test(b)) return Number(a) - Number(b);
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

/** Compares two versions of a minor; `a` is a pre-release if `b` is one. */
const isOlder = (a: Version, b: Version): boolean => {
  if (a.patch !== b.patch) return a.patch < b.patch;
  if (b.pre.length === 0) return a.pre.length > 0;
  const orders = b.pre.map((identifier, index) => compareIdentifiers(a.pre[index], identifier));
  return (orders.find((order) => order !== 0) ?? 0) < 0;
};

/**
 * Compares the version that a kubelet reports, such as `v1.33.2`, with that of its pool, such as `1.33.2`. Like gardener's CheckNodes
 * (`pkg/utils/kubernetes/health/checker`), which takes the kubelet's as a constraint
 * for Masterminds/semver. That also reads versions without minor or patch, which no kubelet reports, and refuses empty and padded identifiers. An unreadable version
 * of the pool fits every kubelet, so that a mistake there is not told of all nodes.
 */
export const kubeletVersionState = (kubelet: string, desired: string): KubeletVersionState => {
  const own = parse(kubelet);
  if (own === undefined) return 'unreadable';
  const wanted = parse(desired);
  if (own.major !== wanted?.major || own.minor !== wanted.minor) return 'fits';
  // A constraint without a pre-release does not admit versions with one.
  const isAdmitted = wanted.pre.length === 0 || own.pre.length > 0;
  return isAdmitted && isOlder(own, wanted) ? 'mismatch' : 'fits';
};
