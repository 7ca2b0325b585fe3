import type { z } from 'zod';
import {
  about,
  anyListOf,
  duration,
  labelKey,
  labelValue,
  listOf,
  mapOf,
  object,
  oneOf,
  positive,
  typeMeta,
} from '../config/index.ts';
import { labelKeyPattern } from '../kubernetes/api/label-selectors.ts';

/**
 * Name of a Service, a label of RFC 1123: since Kubernetes 1.36 (`RelaxedServiceNameValidation`, KEP-5311) it may begin with a digit. It
 * fits into the label `kubernetes.io/service-name`.
 */
export const serviceNamePattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** JSON Schema of a rule: In and NotIn need values, the other operators have none. Its messages are in config-rules.ts. */
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

/** JSON Schema of a rule: a selector without a term would select every pod. Its messages are in config-rules.ts. */
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
export const weederSchema = () =>
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

export type WeederConfig = z.output<ReturnType<typeof weederSchema>>;
