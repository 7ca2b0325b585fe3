import { plural } from '../../status/state/words.ts';
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
  readonly subject: (typeof subjects)[number];
  readonly name: string;
  /** Result in a few words. */
  readonly detail: string;
  readonly findings: readonly PreflightFinding[];
  /** True if the check was left out on request. */
  readonly leftOut?: true;
}

export type CheckResult = Pick<PreflightCheck, 'detail' | 'findings'>;

export type CheckStatus = FindingSeverity | 'ok' | 'left out';

export const statusOf = ({ findings, leftOut }: PreflightCheck): CheckStatus => {
  const found = new Set(findings.map(({ code }) => codes[code].severity));
  const worst = (['failed', 'warning', 'unknown'] as const).find((severity) => found.has(severity));
  return worst ?? (leftOut === true ? 'left out' : 'ok');
};

/** Formats a share: `usable in 998 of 1000 shoots`. */
export const share = (what: string, well: number, all: number): string =>
  all === 0 ? 'no shoot is probed' : `${what} ${String(well)} of ${plural(all, 'shoot')}`;

/** Judges each shoot. The detail is the share of those without a finding. */
export const judgeEach = <T>(
  what: string,
  shoots: readonly T[],
  judge: (shoot: T) => readonly PreflightFinding[],
): CheckResult => {
  const found = shoots.map(judge);
  const well = found.filter(({ length }) => length === 0).length;
  return { detail: share(what, well, shoots.length), findings: found.flat() };
};
