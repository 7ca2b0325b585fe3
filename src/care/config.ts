import type { z } from 'zod';
import {
  type ComponentConfig,
  about,
  allowInsecureShoots,
  anyListOf,
  atLeast,
  boolean,
  componentConfig,
  duration,
  integer,
  object,
  oneOf,
  positive,
  resourceRef,
  secretName,
  typeMeta,
} from '../config/index.ts';
import {
  type ConfigFinding,
  type Path,
  checkRef,
  duplicateRefs,
  fieldsOf,
  itemsOf,
  refOf,
  repeatedAmong,
} from '../config/rules/index.ts';
import { shootConditionTypes } from '../gardener/shoot-conditions.ts';

const dependant = () =>
  object('an object with ref and optional', {
    ref: about('Deployment in the namespace of the shoot.', resourceRef('kube-controller-manager')),
    optional: about('True if the Deployment may be missing.', boolean()).prefault(false),
  });

const deployment = (name: string, optional: boolean) => ({
  ref: { apiVersion: 'apps/v1', kind: 'Deployment', name },
  optional,
});

/** The dependent resources in Gardener's configuration of the prober. */
const defaultDependants = () => [
  deployment('kube-controller-manager', false),
  deployment('machine-controller-manager', false),
  deployment('cluster-autoscaler', true),
];

const conditionThreshold = () =>
  object('an object with type and duration', {
    type: about('Type of the condition.', oneOf(...shootConditionTypes)),
    duration: about('How long a failure is Progressing before it is False.', duration(atLeast(0))),
  });

const staleExtensionHealthChecks = () =>
  object('an object with enabled and threshold', {
    enabled: about('True if they make the condition Unknown.', boolean()).prefault(true),
    threshold: about('Age from which a report is outdated.', duration(positive)).prefault('5m0s'),
  });

const careSchema = () =>
  object('an object with syncPeriod, conditionThresholds and others, all of them optional', {
    ...typeMeta('care'),
    kubeConfigSecretName: about(
      "Secret in the shoot's namespace whose key `kubeconfig` holds the kubeconfig for its API server.",
      secretName(),
    ).prefault('shoot-access-dependency-watchdog-probe'),
    allowInsecureShoots: allowInsecureShoots(),
    syncPeriod: about('Time between two checks of a shoot.', duration(positive)).prefault('1m0s'),
    concurrentSyncs: about('Shoots that are checked at the same time.', integer(atLeast(1))).prefault(20),
    dependants: about(
      'Deployments that the prober scales, as in its configuration.',
      anyListOf('a list of objects with ref and optional', dependant()),
    ).prefault(defaultDependants),
    conditionThresholds: about(
      'How long failures of a condition are tolerated; each type at most once.',
      anyListOf('a list of objects with type and duration', conditionThreshold()),
    ).prefault([]),
    staleExtensionHealthChecks: about('Outdated health reports of extensions.', staleExtensionHealthChecks()).prefault(
      {},
    ),
    managedResourceProgressingThreshold: about(
      'How long the roll-out of a ManagedResource may take. If absent, it is a failure at once.',
      duration(positive),
    ).optional(),
  });

/** The configuration with defaults applied, frozen. Every duration is in milliseconds. */
export type CareSettings = z.output<ReturnType<typeof careSchema>>;

const aboutOther = (dependant: unknown, path: Path): readonly ConfigFinding[] => {
  const ref = refOf(dependant);
  if (ref === undefined || (ref.apiVersion === 'apps/v1' && ref.kind === 'Deployment')) return [];
  const message = 'is not checked: care reports only Deployments of apps/v1 that are scaled down';
  return [{ path: [...path, 'ref'], message, severity: 'warning' }];
};

const aboutDependants = (dependants: readonly unknown[]): readonly ConfigFinding[] => [
  ...duplicateRefs(dependants, 'dependants'),
  ...dependants.flatMap((dependant, index) => checkRef(dependant, ['dependants', index])),
  ...dependants.flatMap((dependant, index) => aboutOther(dependant, ['dependants', index])),
];

const typeTwice = (thresholds: readonly unknown[]): readonly ConfigFinding[] => {
  const types = thresholds.map((threshold) => fieldsOf(threshold).type);
  return repeatedAmong(types.map((type) => (typeof type === 'string' ? type : undefined))).map(
    ({ index, first, key }) => ({
      path: ['conditionThresholds', index, 'type'],
      message: `has a threshold already in conditionThresholds[${first}] (${key}); list each only once`,
      severity: 'error',
    }),
  );
};

/** The rules between fields. Parts of a wrong shape are skipped. */
const careFindings = (value: unknown): readonly ConfigFinding[] => {
  const { dependants, conditionThresholds } = fieldsOf(value);
  return [...aboutDependants(itemsOf(dependants)), ...typeTwice(itemsOf(conditionThresholds))];
};

export const careConfig: ComponentConfig<CareSettings> = componentConfig({
  component: 'care',
  // A minimal configuration: gardenlet generates none for care, because it has its own care built in.
  defaultText: `syncPeriod: 1m0s
`,
  schema: careSchema,
  findings: careFindings,
  settingsFrom: (config) => config,
});
