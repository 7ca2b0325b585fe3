import { labelKeyWords, show } from '../config/index.ts';
import { type ConfigFinding, type Path, fieldsOf, itemsOf, repeatedAmong } from '../config/rules/index.ts';
import { formatLabelSelector, isLabelKey } from '../kubernetes/api/label-selectors.ts';
import { labelSelector, serviceNamePattern } from './config-schema.ts';

const error = (path: Path, message: string): ConfigFinding => ({ path, message, severity: 'error' });

const wrongKey = (path: Path, expected: string): ConfigFinding => ({
  ...error(path, `must be ${expected}, found ${show(path.at(-1))}`),
  aboutKey: true,
});

const wrongLabelKeys = (selector: unknown): readonly string[] =>
  Object.keys(fieldsOf(fieldsOf(selector).matchLabels)).filter((key) => !isLabelKey(key));

const valuesAgainstOperator = (requirement: unknown, path: Path): readonly ConfigFinding[] => {
  const { operator, values } = fieldsOf(requirement);
  // Another rule reports values that are not a list.
  if (values !== undefined && !Array.isArray(values)) return [];
  const isNone = itemsOf(values).length === 0;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return isNone
        ? [error([...path, 'values'], `must hold at least one value, because operator is ${operator}`)]
        : [];
    case 'Exists':
    case 'DoesNotExist':
      return isNone ? [] : [error([...path, 'values'], `must be left out, because operator is ${operator}`)];
    default:
      return [];
  }
};

/** Returns the canonical text of each selector; undefined for an invalid one, which other rules report. */
const textsOf = (selectors: readonly unknown[]): readonly (string | undefined)[] => {
  const schema = labelSelector();
  return selectors.map((selector) => {
    const parsed = schema.safeParse(selector);
    return parsed.success && wrongLabelKeys(selector).length === 0 ? formatLabelSelector(parsed.data) : undefined;
  });
};

const aboutSelector = (selector: unknown, path: Path): readonly ConfigFinding[] => [
  ...wrongLabelKeys(selector).map((key) => wrongKey([...path, 'matchLabels', key], labelKeyWords)),
  ...itemsOf(fieldsOf(selector).matchExpressions).flatMap((requirement, index) =>
    valuesAgainstOperator(requirement, [...path, 'matchExpressions', index]),
  ),
];

const emptySelectors = (texts: readonly (string | undefined)[], path: Path): readonly ConfigFinding[] => {
  const message =
    'must have matchLabels or matchExpressions; an empty selector would select every pod of the namespace';
  return texts.flatMap((text, index) => (text === '' ? [error([...path, index], message)] : []));
};

const sameSelectorTwice = (texts: readonly (string | undefined)[], path: Path): readonly ConfigFinding[] =>
  repeatedAmong(texts.map((text) => (text === '' ? undefined : text))).map(({ index, first, key }) => ({
    path: [...path, index],
    message: `selects the same pods as podSelectors[${first}] (${key}); one of them is enough`,
    severity: 'warning',
  }));

const aboutService = (name: string, service: unknown, path: Path): readonly ConfigFinding[] => {
  const expected = 'the name of a Service (lower-case letters, digits and "-"; at most 63 characters)';
  const podSelectors = itemsOf(fieldsOf(service).podSelectors);
  const texts = textsOf(podSelectors);
  const within = [...path, 'podSelectors'];
  return [
    ...(serviceNamePattern.test(name) ? [] : [wrongKey(path, expected)]),
    ...podSelectors.flatMap((selector, index) => aboutSelector(selector, [...within, index])),
    ...emptySelectors(texts, within),
    ...sameSelectorTwice(texts, within),
  ];
};

/** Applies the rules between fields of a weeder configuration, and those for the keys of its maps. Parts of a wrong shape are skipped. */
export const weederFindings = (value: unknown): readonly ConfigFinding[] => {
  const field = 'servicesAndDependantSelectors';
  return Object.entries(fieldsOf(fieldsOf(value)[field])).flatMap(([name, service]) =>
    aboutService(name, service, [field, name]),
  );
};
