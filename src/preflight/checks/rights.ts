import { formatRight } from '../../kubernetes/api/access.ts';
import type { NeededRight } from '../../process/rights/index.ts';
import { type PreflightCheck, type SeedRead, plural, whenRead } from './check.ts';

/** The rights of the user who runs the command. */
export const ownRights = 'yours';

export interface RightsInput {
  /** Owner of the rights: a ServiceAccount such as `garden/dwd-prober`, or `ownRights`. */
  readonly subject: string;
  /** Number of rights that were checked, and the missing ones. */
  readonly rights: SeedRead<{ readonly needed: number; readonly missing: readonly NeededRight[] }>;
}

const nothingGranted = (subject: string, rights: string): string =>
  subject === ownRights
    ? `you have none of the ${rights}: --rights-of=NAMESPACE/NAME checks those of the prober's ServiceAccount`
    : `${subject} has none of the ${rights}: it is not installed yet, or has another name (--rights-of)`;

/** Checks that the prober has the rights in the seed that its configuration needs. `input` is undefined if the check is left out. */
export const checkRights = (input: RightsInput | undefined): PreflightCheck => {
  const about = { subject: 'rights', name: input === undefined ? 'of the prober' : `of ${input.subject}` } as const;
  if (input === undefined) return { ...about, detail: '--rights-of=none', findings: [], leftOut: true };
  return whenRead(input.rights, about, ({ needed, missing }) => {
    const granted = `${String(needed - missing.length)} of ${plural(needed, 'right')} granted`;
    if (missing.length === needed && needed > 0) {
      const detail = nothingGranted(input.subject, plural(needed, 'right'));
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
