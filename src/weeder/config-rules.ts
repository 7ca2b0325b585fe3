import { labelKeyWords, show } from '../config/index.ts';
import { type ConfigFinding, type Path, fieldsOf, itemsOf } from '../config/rules/index.ts';
import { isLabelKey } from '../kubernetes/api/label-selectors.ts';
import { serviceNamePattern } from './config-schema.ts';

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

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** True if nothing of the selector limits what it selects. Another rule reports parts of a wrong shape. */
const selectsAll = (selector: unknown): boolean => {
  const { matchLabels, matchExpressions } = fieldsOf(selector);
  return typeof selector === 'object' && !Array.isArray(selector) && isEmpty(matchLabels) && isEmpty(matchExpressions);
};

const emptySelector =
  'must have matchLabels or matchExpressions; an empty selector would select every pod of the namespace';

const aboutSelector = (selector: unknown, path: Path): readonly ConfigFinding[] => [
  ...wrongLabelKeys(selector).map((key) => wrongKey([...path, 'matchLabels', key], labelKeyWords)),
  ...itemsOf(fieldsOf(selector).matchExpressions).flatMap((requirement, index) =>
    valuesAgainstOperator(requirement, [...path, 'matchExpressions', index]),
  ),
  ...(selectsAll(selector) ? [error(path, emptySelector)] : []),
];

const aboutService = (name: string, service: unknown, path: Path): readonly ConfigFinding[] => {
  const expected = 'the name of a Service (lower-case letters, digits and "-"; at most 63 characters)';
  const podSelectors = itemsOf(fieldsOf(service).podSelectors);
  return [
    ...(serviceNamePattern.test(name) ? [] : [wrongKey(path, expected)]),
    ...podSelectors.flatMap((selector, index) => aboutSelector(selector, [...path, 'podSelectors', index])),
  ];
};

/** Applies the rules between fields of a weeder configuration, and those for the keys of its maps. Parts of a wrong shape are skipped. */
export const weederFindings = (value: unknown): readonly ConfigFinding[] => {
  const field = 'servicesAndDependantSelectors';
  return Object.entries(fieldsOf(fieldsOf(value)[field])).flatMap(([name, service]) =>
    aboutService(name, service, [field, name]),
  );
};
