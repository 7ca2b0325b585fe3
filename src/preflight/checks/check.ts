import type { Result } from '../../kubernetes/api/errors.ts';
import { type FindingCode, type FindingSeverity, codes } from './codes.ts';

/** Headings, in the order in which they are printed. */
export const subjects = [
  'configuration',
  'seed',
  'kinds',
  'rights',
  'shoots',
  'secrets',
  'dependent resources',
  'grace period',
  'API servers of shoots',
] as const;
export type CheckSubject = (typeof subjects)[number];

/** A problem, or a check that could not be made. */
export interface PreflightFinding {
  readonly code: FindingCode;
  /** Namespace of the shoot's control plane. Absent if the finding concerns the whole seed. */
  readonly shoot?: string;
  /** Description of the problem: the same sentence for all shoots that have it. */
  readonly detail: string;
}

/** One line under a heading. */
export interface PreflightCheck {
  readonly subject: CheckSubject;
  readonly name: string;
  /** Result in a few words. */
  readonly detail: string;
  readonly findings: readonly PreflightFinding[];
  /** True if the check was left out on request. */
  readonly leftOut?: true;
}

export type CheckStatus = FindingSeverity | 'ok' | 'left out';

export const statusOf = ({ findings, leftOut }: PreflightCheck): CheckStatus => {
  const found = new Set(findings.map(({ code }) => codes[code].severity));
  const worst = (['failed', 'warning', 'unknown'] as const).find((severity) => found.has(severity));
  return worst ?? (leftOut === true ? 'left out' : 'ok');
};

/** A read that failed is data: the check that needs it cannot be made. */
export type SeedRead<T> = Result<T, PreflightFinding>;

/** Returns the result of `check`, or reports that it could not be made. */
export const whenRead = <T>(
  read: SeedRead<T>,
  about: Pick<PreflightCheck, 'subject' | 'name'>,
  check: (value: T) => Pick<PreflightCheck, 'detail' | 'findings'>,
): PreflightCheck =>
  read.ok ? { ...about, ...check(read.value) } : { ...about, detail: 'could not be checked', findings: [read.error] };

/** Returns `other`, or the failure of `read`, for a check that needs both. */
export const provided = <T>(read: SeedRead<unknown>, other: SeedRead<T>): SeedRead<T> => (read.ok ? other : read);

export const plural = (count: number, noun: string): string => `${String(count)} ${noun}${count === 1 ? '' : 's'}`;

/** Formats a share: `usable in 998 of 1000 shoots`. */
export const share = (what: string, well: number, all: number): string =>
  all === 0 ? 'no shoot is probed' : `${what} ${String(well)} of ${plural(all, 'shoot')}`;

/** Judges each shoot, and returns the findings. `judge` returns undefined for a shoot without a problem. */
export const perShoot = <T>(
  shoots: Iterable<T>,
  judge: (shoot: T) => PreflightFinding | undefined,
): readonly PreflightFinding[] => Array.from(shoots, judge).filter((finding) => finding !== undefined);

/** Counts the shoots without a finding. */
export const countWell = (all: number, findings: readonly PreflightFinding[]): number =>
  all - new Set(findings.map(({ shoot }) => shoot)).size;
