import { goQuote } from '../../kubernetes/api/go-quote.ts';

/** Result of the comparison of a kubelet's version with that of its worker pool. */
export type KubeletVersionState =
  | { readonly kind: 'fits' }
  /** The kubelet has the same minor version, but an older patch or pre-release. */
  | { readonly kind: 'mismatch' }
  /** The kubelet's version cannot be parsed. */
  | { readonly kind: 'unreadable'; readonly error: string };

interface Version {
  /** Major, minor and patch. */
  readonly core: readonly [number, number, number];
  /** Identifiers of the pre-release; empty for a release. */
  readonly pre: readonly string[];
}

/** Maximum length of a constraint in bytes, as in Masterminds/semver. */
const maxConstraintLength = 512;
/** Grammar of a version: core, pre-release, build. Each repetition ends where another class of characters begins, so that matching takes linear time. */
const grammar =
  /^v?([0-9xX*|]+)(?:\.([0-9xX*|]+))?(?:\.([0-9xX*|]+))?(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const wholeNumber = /^\d{1,15}$/;
/** A number with leading zeros, which is forbidden as an identifier of a pre-release (semver.org, 9). */
const paddedNumber = /^0\d+$/;

/** Parses a version. Returns undefined if the text is none. An absent part or a wildcard is NaN. */
const parse = (text: string): { readonly parts: readonly number[]; readonly pre: readonly string[] } | undefined => {
  const match = grammar.exec(text.trim());
  if (match === null) return undefined;
  const [, major = '', minor = '', patch = '', pre = ''] = match;
  const parts = [major, minor, patch].map((one) => (wholeNumber.test(one) ? Number(one) : Number.NaN));
  return { parts, pre: pre === '' ? [] : pre.split('.') };
};

const fullVersion = (text: string): Version | undefined => {
  const parsed = parse(text);
  const [major = Number.NaN, minor = Number.NaN, patch = Number.NaN] = parsed?.parts ?? [];
  if (parsed === undefined || [major, minor, patch].some(Number.isNaN)) return undefined;
  return { core: [major, minor, patch], pre: parsed.pre };
};

/** Compares identifiers: numbers by value, and before other identifiers (semver.org, 11.4). */
const compareIdentifiers = (a: string, b: string): number => {
  const [isNumberA, isNumberB] = [wholeNumber.test(a), wholeNumber.test(b)];
  if (isNumberA && isNumberB) return Number(a) - Number(b);
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

const comparePre = (a: readonly string[], b: readonly string[]): number => {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (const [index, one] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = compareIdentifiers(one, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
};

const compare = (a: Version, b: Version): number => {
  const [major, minor, patch] = a.core;
  const [otherMajor, otherMinor, otherPatch] = b.core;
  return major - otherMajor || minor - otherMinor || patch - otherPatch || comparePre(a.pre, b.pre);
};

/** True if the pool's version is within `~ kubelet` without being `= kubelet` (Masterminds/semver, which gardener uses). */
const isMismatch = (kubelet: Version, desired: Version): boolean => {
  // A constraint without a pre-release does not admit versions with one.
  if (desired.pre.length > 0 && kubelet.pre.length === 0) return false;
  const isAnyVersion = kubelet.core.every((one) => one === 0);
  const isSameMinor = kubelet.core[0] === desired.core[0] && kubelet.core[1] === desired.core[1];
  return compare(desired, kubelet) > 0 && (isAnyVersion || isSameMinor);
};

const constraintError = (kubelet: string): string | undefined => {
  const constraint = `~ ${kubelet}`;
  if (Buffer.byteLength(constraint) > maxConstraintLength) {
    return `constraint string is too long (max ${maxConstraintLength} bytes)`;
  }
  const parsed = parse(kubelet);
  if (parsed === undefined) return `improper constraint: ${goQuote(constraint)}`;
  return parsed.pre.some((identifier) => paddedNumber.test(identifier)) ? 'constraint parser error' : undefined;
};

/**
 * Compares the version that a kubelet reports, such as `v1.33.2`, with that of its pool, such as `1.33.2`. Like gardener's CheckNodes
 * (`pkg/utils/kubernetes/health/checker`). An unreadable version of the pool fits every kubelet.
 */
export const kubeletVersionState = (kubelet: string, desired: string): KubeletVersionState => {
  const error = constraintError(kubelet);
  if (error !== undefined) return { kind: 'unreadable', error };
  const own = fullVersion(kubelet);
  const wanted = fullVersion(desired);
  if (own === undefined || wanted === undefined) return { kind: 'fits' };
  return { kind: isMismatch(own, wanted) ? 'mismatch' : 'fits' };
};
