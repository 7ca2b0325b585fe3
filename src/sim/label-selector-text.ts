import { asList, asMap, isMap, type JsonMap } from './object.ts';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const requirementText = (expression: Readonly<JsonMap>): string => {
  const key = textOf(expression.key);
  const values = asList(expression.values).map(textOf).sort().join(',');
  switch (expression.operator) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
};

/** A LabelSelector object as a selector string, sorted by key as the real server writes it; a string as it is. */
export const labelSelectorText = (selector: unknown): string | undefined => {
  if (typeof selector === 'string') return selector;
  if (!isMap(selector)) return undefined;
  const labels = Object.entries(asMap(selector.matchLabels)).map(
    ([key, value]) => [key, `${key}=${textOf(value)}`] as const,
  );
  const expressions = asList(selector.matchExpressions).map(
    (expression) => [textOf(asMap(expression).key), requirementText(asMap(expression))] as const,
  );
  return [...labels, ...expressions]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join(',');
};
