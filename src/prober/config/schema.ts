import type { z } from 'zod';
import {
  about,
  allowInsecureShoots,
  atLeast,
  boolean,
  duration,
  fraction,
  integer,
  labelValue,
  listOf,
  mapOf,
  nonEmptyText,
  number,
  object,
  oneOf,
  positive,
  resourceRef,
  secretKey,
  secretName,
  typeMeta,
} from '../../config/index.ts';
import { labelKeyPattern } from '../../kubernetes/api/label-selectors.ts';

const scaleInfo = () =>
  object('an object with level, initialDelay and timeout', {
    level: about(
      'Resources are scaled in ascending order of level; resources of the same level are scaled together.',
      integer(atLeast(0)),
    ).prefault(0),
    initialDelay: about('Time to wait before the resource is scaled.', duration(atLeast(0))).prefault('0s'),
    timeout: about('Time that the scaling may take after the initial delay.', duration(positive)).prefault('30s'),
  });

const placedRef = (name: string) =>
  resourceRef(name).extend({
    namespace: about(
      'Namespace of the resource; by default that of the control plane. The name and the namespace may each contain one placeholder: `{{ namespace }}` (of the control plane) or `{{ cluster }}` (name of the cluster).',
      nonEmptyText('{{ namespace }}'),
    ).optional(),
  });

const dependentResource = () =>
  object('an object with ref, optional, scaleUp and scaleDown', {
    ref: about(
      'Dependent resource, by default in the namespace of the shoot. It needs a scale subresource.',
      placedRef('kube-controller-manager'),
    ),
    optional: about('True if the resource may be missing.', boolean()).prefault(false),
    scaleUp: about('How the resource is restored.', scaleInfo()).optional(),
    scaleDown: about('How the resource is scaled to 0. If absent, the prober never does that.', scaleInfo()).optional(),
    // A resource without scaleUp would stay at 0 for ever. rules.ts has the messages.
  }).meta({
    required: ['ref', 'scaleUp'],
  });

const clusterSource = () =>
  object('an object with kind, key and selector', {
    kind: about(
      'gardener: each Cluster of the seed is a shoot. secret: each namespace with the Secret `kubeConfigSecretName`, or with a Secret that `selector` matches, is a cluster. It is probed until that Secret is deleted or the deletion of the namespace begins. All its nodes count, except those with an unhealthy condition and those that are being deleted or are about to be.',
      oneOf('gardener', 'secret'),
    ).prefault('gardener'),
    key: about(
      "With kind secret: key of the Secret's data that holds the kubeconfig. Default: `kubeconfig`; Cluster API writes `value`.",
      secretKey(),
    ).optional(),
    selector: about(
      'With kind secret: labels that select the Secret, in place of `kubeConfigSecretName`. If several Secrets of a namespace have them, the oldest is used.',
      mapOf('a map from label keys to values, at least one', {
        keys: labelKeyPattern,
        values: labelValue(),
        minEntries: 1,
      }),
    ).optional(),
  });

/** Either field selects the Secrets with kubeconfigs, not both. rules.ts has the messages. */
const secretOrSelector = {
  if: { properties: { clusterSource: { required: ['selector'] } }, required: ['clusterSource'] },
  then: { properties: { kubeConfigSecretName: false, clusterSource: { properties: { kind: { const: 'secret' } } } } },
  else: { required: ['kubeConfigSecretName'] },
};

const externalProbe = () =>
  object('an object with kubeConfigSecretName, timeout, failureThreshold, successThreshold and mode', {
    kubeConfigSecretName: about(
      "Name of the Secret in the shoot's namespace that holds a kubeconfig with the public address of the shoot's API server. Its key is `kubeconfig`.",
      secretName(),
    ),
    timeout: about('Timeout of one attempt.', duration(positive)).prefault('5s'),
    failureThreshold: about(
      'Consecutive failures, one per second, after which the address counts as unreachable.',
      integer(atLeast(1)),
    ).prefault(3),
    successThreshold: about(
      'Consecutive responses after which the address counts as reachable.',
      integer(atLeast(1)),
    ).prefault(1),
    mode: about(
      'observe: the external probe only reports. trigger: in addition, while the address is unreachable, resources are scaled down when none of three or more nodes has renewed its lease for 15 s, instead of allSilentAfter.',
      oneOf('observe', 'trigger'),
    ).prefault('observe'),
  });

/** Schema of the prober's configuration file. It parses durations to milliseconds. */
export const proberSchema = () =>
  object('an object with kubeConfigSecretName and dependentResourceInfos', {
    ...typeMeta('prober'),
    kubeConfigSecretName: about(
      "Name of the Secret in the shoot's namespace whose key `kubeconfig` (or `clusterSource.key`) holds the kubeconfig for the shoot's API server. Required, unless `clusterSource.selector` replaces it.",
      secretName(),
    ).optional(),
    probeInterval: about('Time between two probes of one shoot.', duration(positive)).prefault('10s'),
    initialDelay: about('Time for a new shoot to settle before its first probe.', duration(atLeast(0))).prefault('30s'),
    probeTimeout: about('Timeout of one probe as a whole.', duration(positive)).prefault('30s'),
    backoffJitterFactor: about(
      'The time between two probes is extended at random, by up to this fraction of itself.',
      number(atLeast(0)),
    ).prefault(0.2),
    kcmNodeMonitorGraceDuration: about(
      "Must equal kube-controller-manager's --node-monitor-grace-period.",
      duration(positive),
    ).prefault('40s'),
    nodeLeaseFailureFraction: about(
      'Resources are scaled down when at least this fraction of the candidate node leases has expired.',
      number(fraction),
    ).prefault(0.6),
    allSilentAfter: about(
      'Resources are also scaled down when none of three or more candidate nodes has renewed its lease for this time; 0s turns this off. Default: half of the longest leaseDurationSeconds of the leases, but at least half of the grace period.',
      duration(atLeast(0)),
    ).optional(),
    landingTimeout: about(
      'How long the restoration after an outage waits for nodes that have not renewed their leases again; 0s turns this off. In a flapping shoot it waits longer.',
      duration(atLeast(0)),
    ).prefault('1m'),
    allowInsecureShoots: allowInsecureShoots(),
    clusterSource: about('How the prober finds the clusters that it protects.', clusterSource()).prefault({
      kind: 'gardener',
    }),
    externalProbe: about(
      'Second signal: the prober tries the public address of the API server, which kubelets use.',
      externalProbe(),
    ).optional(),
    paused: about(
      'Reason for a pause of all shoots. While it is set, nothing is scaled down; probes and verdicts go on, and held resources are restored. `dwd pause` does the same without a change of the configuration.',
      nonEmptyText('LB maintenance'),
    ).optional(),
    dependentResourceInfos: about(
      'Resources that are scaled down in an outage and restored afterwards.',
      listOf('a list of at least one dependent resource', dependentResource()),
    ),
  }).meta(secretOrSelector);

export type ProberConfig = z.output<ReturnType<typeof proberSchema>>;
