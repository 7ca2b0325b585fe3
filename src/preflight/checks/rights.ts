import { formatRight } from '../../kubernetes/api/access.ts';
import type { NeededRight } from '../../process/rights/index.ts';
import { type PreflightCheck, type SeedRead, plural, whenRead } from './check.ts';

export interface RightsInput {
  /** Whose rights: `garden/dwd-prober`, or words. */
  readonly subject: string;
  /** How many were asked for, and those that are missing. */
  readonly rights: SeedRead<{ readonly needed: number; readonly missing: readonly NeededRight[] }>;
}

/** Has the prober the rights in the seed that its configuration takes? Undefined: that was left out. */
export const checkRights = (input: RightsInput | undefined): PreflightCheck => {
  const about = { subject: 'rights', name: input === undefined ? 'of the prober' : `of ${input.subject}` } as const;
  if (input === undefined) return { ...about, detail: '--rights-of=none', findings: [], leftOut: true };
  return whenRead(input.rights, about, ({ needed, missing }) => {
    const granted = `${String(needed - missing.length)} of ${plural(needed, 'right')} granted`;
    if (missing.length === needed && needed > 0) {
      const detail = `${input.subject} has none of the ${plural(needed, 'right')}: it is not installed yet, or has another name (--rights-of)`;
      return { detail: granted, findings: [{ code: 'right-missing', detail }] };
    }
    return {
      detail: granted,
      findings: missing.map(({ right, purpose }) => ({
        code: 'right-missing' as const,
        detail: `${purpose}: ${formatRight(right)}`,
      })),
    };
  });
};
