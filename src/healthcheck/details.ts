import type { CheckOutcome } from './check.ts';

type Problem = Exclude<CheckOutcome, { status: 'True' }>;

export const plural = (count: number): string => (count === 1 ? 'check' : 'checks');

const sections: readonly { readonly status: Problem['status']; readonly header: string }[] = [
  { status: 'Failed', header: 'Unable to execute' },
  { status: 'False', header: 'Failed' },
  { status: 'Progressing', header: 'Progressing' },
];

const sentence = (detail: string): string => (detail.endsWith('.') ? detail : `${detail}.`);

const entries = (details: readonly string[]): string => {
  const [first, ...others] = details;
  if (first !== undefined && others.length === 0) return sentence(first);
  return details.map((detail, index) => `${index + 1}) ${sentence(detail)}`).join(' ');
};

/**
 * Joins the details of one condition's checks: first of those that could not be carried out, then of the unsuccessful and the progressing ones, each in the
 * order of registration. Sections have headers only if there are several. Like gardener's `extensions/pkg/controller/healthcheck/message_util.go`.
 */
export const describeOutcomes = (outcomes: readonly CheckOutcome[]): string => {
  const found = sections
    .map(({ status, header }) => ({
      header,
      details: outcomes.flatMap((outcome) =>
        'detail' in outcome && outcome.status === status ? [outcome.detail] : [],
      ),
    }))
    .filter(({ details }) => details.length > 0);
  return found
    .map(({ header, details }) =>
      found.length === 1 ? entries(details) : `${header} ${plural(details.length)}: ${entries(details)}`,
    )
    .join(' ');
};
