import type { z } from 'zod';
import {
  about,
  allowInsecureShoots,
  anyListOf,
  atLeast,
  boolean,
  duration,
  integer,
  object,
  oneOf,
  positive,
  resourceRef,
  secretName,
  typeMeta,
} from '../config/index.ts';
import { shootConditionTypes } from '../gardener/shoot-conditions.ts';

const dependant = () =>
  object('an object with ref and optional', {
    ref: about('A Deployment in the namespace of the shoot.', resourceRef('kube-controller-manager')),
    optional: about('Whether it may be missing.', boolean()).prefault(false),
  });

const deployment = (name: string, optional: boolean) => ({
  ref: { apiVersion: 'apps/v1', kind: 'Deployment', name },
  optional,
});

/** What Gardener configures the prober with. */
const defaultDependants = () => [
  deployment('kube-controller-manager', false),
  deployment('machine-controller-manager', false),
  deployment('cluster-autoscaler', true),
];

const conditionThreshold = () =>
  object('an object with type and duration', {
    type: about('Type of the condition.', oneOf(...shootConditionTypes)),
    duration: about('How long its failures are called Progressing before they are False.', duration(atLeast(0))),
  });

const staleExtensionHealthChecks = () =>
  object('an object with enabled and threshold', {
    enabled: about('Whether outdated reports of extensions make a condition Unknown.', boolean()).prefault(true),
    threshold: about('Age from which they are outdated.', duration(positive)).prefault('5m0s'),
  });

/** The configuration file of `dwd care`; durations come out in milliseconds. */
export const careSchema = () =>
  object('an object with syncPeriod, conditionThresholds and others, all of them optional', {
    ...typeMeta('care'),
    kubeConfigSecretName: about(
      "Secret in the shoot's namespace whose key `kubeconfig` reaches the shoot's API server.",
      secretName(),
    ).prefault('shoot-access-dependency-watchdog-probe'),
    allowInsecureShoots: allowInsecureShoots(),
    syncPeriod: about('Time from one check of a shoot to the next.', duration(positive)).prefault('1m0s'),
    concurrentSyncs: about('Shoots checked at the same time.', integer(atLeast(1))).prefault(20),
    dependants: about(
      'The Deployments that the prober scales, as in its configuration.',
      anyListOf('a list of objects with ref and optional', dependant()),
    ).prefault(defaultDependants),
    conditionThresholds: about(
      'Grace for failures, by condition; each type only once.',
      anyListOf('a list of objects with type and duration', conditionThreshold()),
    ).prefault([]),
    staleExtensionHealthChecks: about('What is done about outdated reports.', staleExtensionHealthChecks()).prefault(
      {},
    ),
    managedResourceProgressingThreshold: about(
      'How long a ManagedResource may take to roll out; without it, a roll-out is a failure at once.',
      duration(positive),
    ).optional(),
    legacyStatusLabels: about(
      'Whether the labels shoot.garden.sapcloud.io/status and shoot.garden.sapcloud.io/unhealthy are written too, which older tooling reads.',
      boolean(),
    ).prefault(true),
  });

export type CareConfig = z.output<ReturnType<typeof careSchema>>;
