import type { z } from 'zod';
import {
  type ComponentConfig,
  type FormerFields,
  about,
  anyListOf,
  componentConfig,
  duration,
  labelKey,
  labelKeyWords,
  labelValue,
  listOf,
  mapOf,
  object,
  oneOf,
  positive,
  show,
  typeMeta,
} from '../config/index.ts';
import { type ConfigFinding, type Path, fieldsOf, itemsOf } from '../config/rules/index.ts';
import { isLabelKey, labelKeyPattern } from '../kubernetes/api/label-selectors.ts';

/**
 * Name of a Service, a label of RFC 1123: since Kubernetes 1.36 (`RelaxedServiceNameValidation`, KEP-5311) it may begin with a digit. It
 * fits into the label `kubernetes.io/service-name`.
 */
const serviceNamePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** JSON Schema of a rule: In and NotIn need values, the other operators have none. */
const valuesByOperator = {
  if: { properties: { operator: { enum: ['In', 'NotIn'] } } },
  then: { required: ['values'], properties: { values: { type: 'array', minItems: 1 } } },
  else: { properties: { values: { type: 'array', maxItems: 0 } } },
};

const requirement = () =>
  object('an object with key, operator and values', {
    key: about('Key of the label.', labelKey()),
    operator: about('How the label is compared.', oneOf('In', 'NotIn', 'Exists', 'DoesNotExist')),
    values: about('For In and NotIn.', anyListOf('a list of label values', labelValue())).prefault([]),
  }).meta(valuesByOperator);

/** JSON Schema of a rule: a selector without a term would select every pod. */
const notEmpty = {
  anyOf: [
    { required: ['matchLabels'], properties: { matchLabels: { type: 'object', minProperties: 1 } } },
    { required: ['matchExpressions'], properties: { matchExpressions: { type: 'array', minItems: 1 } } },
  ],
};

/** A `LabelSelector` of the Kubernetes API. */
const labelSelector = () =>
  object('an object with matchLabels and matchExpressions', {
    matchLabels: about(
      'Labels that a pod must have.',
      mapOf('a map from label keys to values', { keys: labelKeyPattern, values: labelValue(), minEntries: 0 }),
    ).prefault({}),
    matchExpressions: about(
      'Conditions on labels; all must hold.',
      anyListOf('a list of objects with key, operator and values', requirement()),
    ).prefault([]),
  }).meta(notEmpty);

const dependents = () =>
  object('an object with podSelectors', {
    podSelectors: about(
      'Label selectors of the pods that depend on the service, in its namespace.',
      listOf('a list of at least one label selector', labelSelector()),
    ),
  });

/** Schema of the weeder's configuration file. It parses durations to milliseconds. */
const weederSchema = () =>
  object('an object with servicesAndDependantSelectors', {
    ...typeMeta('weeder'),
    watchDuration: about(
      'How long crash-looping pods are deleted after their service has become ready.',
      duration(positive),
    ).prefault('5m0s'),
    servicesAndDependantSelectors: about(
      'Names of Services, with the pods that depend on each.',
      mapOf('a map from the names of Services, at least one, to objects with podSelectors', {
        keys: serviceNamePattern,
        values: dependents(),
        minEntries: 1,
      }),
    ),
  });

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
const weederFindings = (value: unknown): readonly ConfigFinding[] => {
  const field = 'servicesAndDependantSelectors';
  return Object.entries(fieldsOf(fieldsOf(value)[field])).flatMap(([name, service]) =>
    aboutService(name, service, [field, name]),
  );
};

const settingsFrom = (config: z.output<ReturnType<typeof weederSchema>>) => ({
  watchDurationMs: config.watchDuration,
  services: Object.entries(config.servicesAndDependantSelectors).map(([name, { podSelectors }]) => ({
    name,
    podSelectors,
  })),
});

/** Settings with defaults applied, frozen. */
export type WeederSettings = ReturnType<typeof settingsFrom>;

/** The configuration that gardenlet generates (NewDependencyWatchdogWeederConfiguration in https://github.com/gardener/gardener/tree/master/pkg/component). */
const defaultText = `watchDuration: 5m0s
servicesAndDependantSelectors:
  etcd-main-client:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: In, values: [apiserver]}
  kube-apiserver:
    podSelectors:
      - matchExpressions:
          - {key: gardener.cloud/role, operator: In, values: [controlplane]}
          - {key: role, operator: NotIn, values: [main, apiserver]}
`;

const present = 'servicesAndDependantSelectors';
const one = { until: '1.0' };

/** Fields of the Go program before 1.0: pkg/restarter. The first versions had one service. */
const formerFields: FormerFields = {
  services: { ...one, now: present, stoodFor: [present] },
  service: { ...one, now: present, stoodFor: [present] },
  dependantPods: { ...one, now: 'podSelectors' },
  labels: one,
  namespace: one,
};

export const weederConfig: ComponentConfig<WeederSettings> = componentConfig({
  component: 'weeder',
  defaultText,
  schema: weederSchema,
  formerFields,
  findings: weederFindings,
  settingsFrom,
});
