/** Result of the comparison of a kubelet's version with that of its worker pool. `mismatch`: the same minor version, but an older patch or pre-release. */
export type KubeletVersionState = 'fits' | 'mismatch' | 'unreadable';

interface Version {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** Its pre-release; empty for a release. */
  readonly pre: string;
}

/** A full version (semver.org), with or without `v`. */
const grammar = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

const parse = (text: string): Version | undefined => {
  const match = grammar.exec(text);
  if (match === null) return undefined;
  const [, major, minor, patch, pre = ''] = match;
  return { major: Number(major), minor: Number(minor), patch: Number(patch), pre };
};

/** Makes texts of pre-releases that sort like these: numbers by value and before other identifiers, of which a shorter list comes first (semver.org, 11.4). */
const sortKey = (pre: string): string =>
  pre
    .split('.')
    .map((identifier) => (/^\d+$/.test(identifier) ? ` ${identifier.padStart(20, '0')}` : identifier))
    .join('\0');

/** Compares two versions of a minor; `a` is a pre-release if `b` is one. */
const isOlder = (a: Version, b: Version): boolean => {
  if (a.patch !== b.patch) return a.patch < b.patch;
  return b.pre === '' ? a.pre !== '' : sortKey(a.pre) < sortKey(b.pre);
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
  const isAdmitted = wanted.pre === '' || own.pre !== '';
  return isAdmitted && isOlder(own, wanted) ? 'mismatch' : 'fits';
};
