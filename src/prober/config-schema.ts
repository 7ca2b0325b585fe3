import type { z } from 'zod';
import {
  about,
  annotationKey,
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
  secretNameTemplate,
  text,
  typeMeta,
} from '../config/index.ts';
import { labelKeyPattern } from '../kubernetes/api/label-selectors.ts';
import { prefix } from '../gardener/scaling-annotations.ts';
import { gardenApiServerRef } from '../gardener/api-server.ts';

const scaleInfo = () =>
  object('an object with level, initialDelay and timeout', {
    level: about(
      'Resources are scaled in ascending order of level, those of one level together.',
      integer(atLeast(0)),
    ).prefault(0),
    initialDelay: about('How long to wait before scaling.', duration(atLeast(0))).prefault('0s'),
    timeout: about('How long scaling may take.', duration(positive)).prefault('30s'),
  });

const placedRef = (name: string) =>
  resourceRef(name).extend({
    namespace: about(
      'Its namespace; without it, that of the control plane. In name and namespace, `{{ namespace }}` and `{{ cluster }}` stand for those of the cluster, one of them in each.',
      nonEmptyText('{{ namespace }}'),
    ).optional(),
  });

const annotation = () =>
  object('an object with key and value', {
    key: about(
      'Such as cluster.x-k8s.io/paused; none of the prober itself.',
      annotationKey().meta({ not: { pattern: `^${prefix.replaceAll('.', String.raw`\.`)}` } }),
    ),
    value: about('A value that nobody else would set tells who has set it.', text('dependency-watchdog')).prefault(
      'dependency-watchdog',
    ),
  });

const dependentResource = () =>
  object('an object with ref, optional, action, annotation, scaleUp and scaleDown', {
    ref: about(
      'A resource in the namespace of the shoot; it needs a scale subresource unless it is annotated.',
      placedRef('kube-controller-manager'),
    ),
    optional: about('Whether the resource may be missing.', boolean()).prefault(false),
    action: about(
      'What protects it. scale: it is scaled to 0. annotate: it gets the annotation `annotation`, which pauses whatever works on it.',
      oneOf('scale', 'annotate'),
    ).prefault('scale'),
    annotation: about(
      'With `action: annotate`: what is set. Afterwards the resource gets its former value back, or loses it where there was none.',
      annotation(),
    ).optional(),
    scaleUp: about('How it is restored.', scaleInfo()).optional(),
    scaleDown: about('How it is scaled to 0, or annotated; without it, it never is.', scaleInfo()).optional(),
    // A resource without scaleUp would stay at 0 for ever. config-rules.ts has the messages.
  }).meta({
    required: ['ref', 'scaleUp'],
    if: { properties: { action: { const: 'annotate' } }, required: ['action'] },
    then: { required: ['annotation'] },
    else: { not: { required: ['annotation'] } },
  });

const clusterSource = () =>
  object('an object with kind, key and selector', {
    kind: about(
      'gardener: the Clusters of a seed are its shoots. secret: every namespace with the Secret `kubeConfigSecretName`, or one with the labels of `selector`, is a cluster; it is probed until that Secret is gone, or the namespace is being deleted, and all of its nodes count that do not say themselves that they are broken, or are about to be deleted. cluster-api: every Cluster of cluster.x-k8s.io whose control plane is initialized is a cluster, unless it is paused or being deleted; the nodes of its Machines count.',
      oneOf('gardener', 'secret', 'cluster-api'),
    ).prefault('gardener'),
    key: about(
      'The key of the Secret that has the kubeconfig. Default: `kubeconfig` with kind secret, `value` with kind cluster-api.',
      secretKey(),
    ).optional(),
    selector: about(
      'With kind secret, labels of the Secret, in place of `kubeConfigSecretName`: of several in a namespace, the oldest.',
      mapOf('a map from label keys to values, at least one', {
        keys: labelKeyPattern,
        values: labelValue(),
        minEntries: 1,
      }),
    ).optional(),
  });

/** Either field selects the Secrets with kubeconfigs, not both. config-rules.ts has the messages. */
const secretOrSelector = {
  if: { properties: { clusterSource: { required: ['selector'] } }, required: ['clusterSource'] },
  then: { properties: { kubeConfigSecretName: false, clusterSource: { properties: { kind: { const: 'secret' } } } } },
  else: { required: ['kubeConfigSecretName'] },
};

const externalProbe = () =>
  object('an object with kubeConfigSecretName, timeout, failureThreshold, successThreshold and mode', {
    kubeConfigSecretName: about(
      "Secret in the shoot's namespace whose key `kubeconfig` (with `clusterSource.kind: cluster-api`, `clusterSource.key`) has the public address of the shoot's API server.",
      secretNameTemplate(),
    ),
    timeout: about('Bounds one attempt.', duration(positive)).prefault('5s'),
    failureThreshold: about(
      'After so many consecutive failures, one a second, the address is unreachable (broken, in log and metrics).',
      integer(atLeast(1)),
    ).prefault(3),
    successThreshold: about(
      'After so many consecutive answers the address is reachable (whole, in log and metrics).',
      integer(atLeast(1)),
    ).prefault(1),
    mode: about(
      'observe: only reports. confirm: also, nothing is scaled down while the address is reachable. trigger: also, resources are scaled down when the address is unreachable and no node has renewed its lease for 15 s.',
      oneOf('observe', 'confirm', 'trigger'),
    ).prefault('observe'),
  });

/** Schema of the prober's configuration file. It parses durations to milliseconds. */
export const proberSchema = () =>
  object('an object with kubeConfigSecretName and dependentResourceInfos', {
    ...typeMeta('prober'),
    kubeConfigSecretName: about(
      "Secret in the shoot's namespace whose key `kubeconfig` (or `clusterSource.key`) reaches the shoot's API server. Required, but with `clusterSource.selector`.",
      secretNameTemplate(),
    ).optional(),
    probeInterval: about('Time between two probes of one shoot.', duration(positive)).prefault('10s'),
    initialDelay: about('How long a new shoot may settle before it is probed.', duration(atLeast(0))).prefault('30s'),
    probeTimeout: about('Bounds one probe as a whole.', duration(positive)).prefault('30s'),
    backoffJitterFactor: about(
      'The time between two probes is longer by a random part of up to this factor.',
      number(atLeast(0)),
    ).prefault(0.2),
    kcmNodeMonitorGraceDuration: about(
      "Must equal kube-controller-manager's --node-monitor-grace-period.",
      duration(positive),
    ).prefault('40s'),
    nodeLeaseFailureFraction: about(
      'Resources are scaled down when this fraction of the node leases, or more, has expired.',
      number(fraction),
    ).prefault(0.6),
    allSilentAfter: about(
      'Resources are scaled down as well when none of at least three candidate nodes has renewed its lease for so long; 0s turns this off. Default: half of the longest leaseDurationSeconds of the leases, and at least half of the grace.',
      duration(atLeast(0)),
    ).optional(),
    landingTimeout: about(
      'After an outage, how long a scale-up waits for nodes that have not renewed their leases again; 0s: it does not wait.',
      duration(atLeast(0)),
    ).prefault('1m'),
    allowInsecureShoots: allowInsecureShoots(),
    clusterSource: about('How the prober finds the clusters that it protects.', clusterSource()).prefault({
      kind: 'gardener',
    }),
    apiServerRef: about(
      "What runs the API server of a shoot, in the shoot's namespace: while it has no available replica, the API server is down, and not merely out of our reach.",
      placedRef(gardenApiServerRef.name),
    ).prefault({ ...gardenApiServerRef }),
    externalProbe: about(
      'Tries the public address of the API server, which kubelets use, as a second signal.',
      externalProbe(),
    ).optional(),
    paused: about(
      'Why nothing is scaled down. While it is set, probes and verdicts go on, and what is held is restored; `dwd pause` does the same without a change of the configuration.',
      nonEmptyText('LB maintenance'),
    ).optional(),
    dependentResourceInfos: about(
      'What is scaled down, and up again.',
      listOf('a list of at least one dependent resource', dependentResource()),
    ),
  }).meta(secretOrSelector);

export type ProberConfig = z.output<ReturnType<typeof proberSchema>>;
