import type { z } from 'zod';
import {
  about,
  allowInsecureShoots,
  atLeast,
  boolean,
  duration,
  flagOr,
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
  time,
  typeMeta,
} from '../../config/index.ts';
import { parseTime, rfc3339 } from '../../annotations/json-annotation.ts';
import { labelKeyPattern } from '../../kubernetes/api/label-selectors.ts';

const scaleInfo = () =>
  object('an object with level, initialDelay and timeout', {
    level: about(
      'Resources are scaled in ascending order of level, those of one level together.',
      integer(atLeast(0)),
    ).prefault(0),
    initialDelay: about('Wait before the resource is scaled.', duration(atLeast(0))).prefault('0s'),
    timeout: about('Time for the scaling, after the initial delay.', duration(positive)).prefault('30s'),
  });

const placedRef = (name: string) =>
  resourceRef(name).extend({
    namespace: about(
      'Namespace of the resource; by default that of the control plane. Name and namespace may each contain `{{ namespace }}` (of the control plane) or `{{ cluster }}` (its name).',
      nonEmptyText('{{ namespace }}'),
    ).optional(),
  });

const dependentResource = () =>
  object('an object with ref, optional, scaleUp and scaleDown', {
    ref: about('The resource. It needs a scale subresource.', placedRef('kube-controller-manager')),
    optional: about('True if the resource may be missing.', boolean()).prefault(false),
    scaleUp: about('How the resource is restored.', scaleInfo()).optional(),
    scaleDown: about('How the resource is scaled to 0. If absent, it never is.', scaleInfo()).optional(),
    // A resource without scaleUp would stay at 0 for ever. rules.ts has the messages.
  }).meta({
    required: ['ref', 'scaleUp'],
  });

const labels = () =>
  mapOf('a map from label keys to values, at least one', {
    keys: labelKeyPattern,
    values: labelValue(),
    minEntries: 1,
  });

const clusterSource = () =>
  object('an object with kind, key, selector and nodeSelector', {
    kind: about(
      'gardener: each Cluster of the seed is a shoot. secret: each namespace with the Secret `kubeConfigSecretName`, or with one that `selector` matches, is a cluster.',
      oneOf('gardener', 'secret'),
    ).prefault('gardener'),
    key: about(
      'With kind secret: key of the kubeconfig in the Secret. Default: `kubeconfig`; Cluster API writes `value`.',
      secretKey(),
    ).optional(),
    selector: about(
      'With kind secret: labels of the Secret, in place of `kubeConfigSecretName`. Of several in a namespace the oldest with a kubeconfig is used.',
      labels(),
    ).optional(),
    nodeSelector: about('With kind secret: labels of the nodes that count. Default: all nodes.', labels()).optional(),
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
      "Secret in the shoot's namespace whose key `kubeconfig` holds a kubeconfig with the public address.",
      secretName(),
    ),
    timeout: about('Timeout of one attempt.', duration(positive)).prefault('5s'),
    failureThreshold: about(
      'Failures in a row, one per second, after which the address is unreachable.',
      integer(atLeast(1)),
    ).prefault(3),
    successThreshold: about('Responses in a row after which it is reachable.', integer(atLeast(1))).prefault(1),
    mode: about(
      'observe: only reports. trigger: also, while the address is unreachable, 15 s replace allSilentAfter.',
      oneOf('observe', 'trigger'),
    ).prefault('observe'),
  });

/** Schema of the prober's configuration file. It parses durations to milliseconds. */
export const proberSchema = () =>
  object('an object with kubeConfigSecretName and dependentResourceInfos', {
    ...typeMeta('prober'),
    kubeConfigSecretName: about(
      "Secret in the shoot's namespace whose key `kubeconfig` (or `clusterSource.key`) holds the kubeconfig for its API server. Required without `clusterSource.selector`.",
      secretName(),
    ).optional(),
    probeInterval: about('Time between two probes of a shoot.', duration(positive)).prefault('10s'),
    initialDelay: about('Wait before the first probe of a new shoot.', duration(atLeast(0))).prefault('30s'),
    probeTimeout: about('Timeout of a whole probe.', duration(positive)).prefault('30s'),
    backoffJitterFactor: about('Intervals are longer at random, by up to this fraction.', number(atLeast(0))).prefault(
      0.2,
    ),
    kcmNodeMonitorGraceDuration: about(
      "Must equal kube-controller-manager's --node-monitor-grace-period.",
      duration(positive),
    ).prefault('40s'),
    nodeLeaseFailureFraction: about(
      'Share of the candidates whose leases must have expired for a scale-down.',
      number(fraction),
    ).prefault(0.6),
    allSilentAfter: about(
      'Resources are scaled down, too, when none of three or more candidates has renewed for this time; 0s: never. Default: half of the grace period or of the longest leaseDurationSeconds, whichever is longer.',
      duration(atLeast(0)),
    ).optional(),
    landingTimeout: about(
      'How long a restoration waits for late nodes; longer in a flapping shoot.',
      duration(atLeast(0)),
    ).prefault('1m'),
    allowInsecureShoots: allowInsecureShoots(),
    clusterSource: about('How the clusters are found.', clusterSource()).prefault({
      kind: 'gardener',
    }),
    externalProbe: about(
      'Tries the public address of the API server, too, which kubelets use.',
      externalProbe(),
    ).optional(),
    paused: about(
      'Pauses all shoots, as `dwd pause --all` does; an object says until when, and why.',
      flagOr('an object with until and reason', {
        until: about(
          'When the pause ends by itself, in RFC 3339. Default: when the configuration says so.',
          time(rfc3339, parseTime),
        ).optional(),
        reason: about('Why, for everybody who looks.', nonEmptyText('LB maintenance')).optional(),
      }),
    ).optional(),
    dependentResourceInfos: about(
      'Resources that are scaled down in an outage and restored after it.',
      listOf('a list of at least one dependent resource', dependentResource()),
    ),
  }).meta(secretOrSelector);

export type ProberConfig = z.output<ReturnType<typeof proberSchema>>;
