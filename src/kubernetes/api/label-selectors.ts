export type LabelSelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelSelectorOperator;
  /** At least one for `In` and `NotIn`, none for the others. */
  readonly values: readonly string[];
}

/**
 * A label selector with the semantics of `LabelSelectorAsSelector` (apimachinery `pkg/apis/meta/v1/helpers.go`), which the API server gives it: all terms must
 * match, and a selector without terms matches everything.
 */
export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelRequirement[];
}

/** `IsQualifiedName` of apimachinery: a name of at most 63 characters, optionally prefixed by a DNS subdomain of at most 253 characters and `/`. */
export const labelKeyPattern =
  /^(?:(?=[^/]{1,253}\/)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/;

/** `IsValidLabelValue` of apimachinery: at most 63 characters, may be empty. */
export const labelValuePattern = /^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/;

export const isLabelKey = (text: string): boolean => labelKeyPattern.test(text);
export const isLabelValue = (text: string): boolean => labelValuePattern.test(text);

const requirementsOf = ({ matchLabels, matchExpressions }: LabelSelector): readonly LabelRequirement[] => [
  ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] }) as const),
  ...matchExpressions,
];

const formatRequirement = ({ key, operator, values }: LabelRequirement): string => {
  const sorted = [...new Set(values)].toSorted();
  switch (operator) {
    case 'In':
      return sorted.length === 1 ? `${key}=${sorted.join()}` : `${key} in (${sorted.join()})`;
    case 'NotIn':
      return sorted.length === 1 ? `${key}!=${sorted.join()}` : `${key} notin (${sorted.join()})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
  }
};

/**
 * Formats the query parameter `labelSelector`, not yet URL-encoded; the empty text selects everything. Selectors that differ
 * only in the order or repetition of terms and values, or in how they require the same label, give the same text.
 */
export const formatLabelSelector = (selector: LabelSelector): string =>
  [...new Set(requirementsOf(selector).map(formatRequirement))].toSorted().join(',');
