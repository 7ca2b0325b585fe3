import type { z } from 'zod';
import {
  about,
  allowInsecureShoots,
  atLeast,
  boolean,
  duration,
  fraction,
  integer,
  listOf,
  number,
  object,
  oneOf,
  positive,
  resourceRef,
  secretName,
  typeMeta,
} from '../config/index.ts';
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

const dependentResource = () =>
  object('an object with ref, optional, scaleUp and scaleDown', {
    ref: about(
      'A resource with a scale subresource, in the namespace of the shoot.',
      resourceRef('kube-controller-manager'),
    ),
    optional: about('Whether the resource may be missing.', boolean()).prefault(false),
    scaleUp: about('How it is restored.', scaleInfo()).optional(),
    scaleDown: about('How it is scaled to 0; without it, it never is.', scaleInfo()).optional(),
    // What is scaled down and never up would stay at 0 for ever: prober-rules.ts says so in words.
  }).meta({ required: ['ref', 'scaleUp'] });

const externalProbe = () =>
  object('an object with kubeConfigSecretName, timeout, failureThreshold, successThreshold and mode', {
    kubeConfigSecretName: about(
      "Secret in the shoot's namespace whose key `kubeconfig` has the public address of the shoot's API server.",
      secretName(),
    ),
    timeout: about('Bounds one try.', duration(positive)).prefault('5s'),
    failureThreshold: about(
      'After so many consecutive failures, tried again every second, the path counts as broken.',
      integer(atLeast(1)),
    ).prefault(3),
    successThreshold: about(
      'After so many consecutive successes the path counts as whole.',
      integer(atLeast(1)),
    ).prefault(1),
    mode: about(
      'observe: tells, nothing more. confirm: also, nothing is scaled down while the path is whole. trigger: also, resources are scaled down when the path is broken and no node has renewed its lease for 15 s.',
      oneOf('observe', 'confirm', 'trigger'),
    ).prefault('observe'),
  });

/** The prober's configuration file; durations come out in milliseconds. */
export const proberSchema = () =>
  object('an object with kubeConfigSecretName and dependentResourceInfos', {
    ...typeMeta('prober'),
    kubeConfigSecretName: about(
      "Secret in the shoot's namespace whose key `kubeconfig` reaches the shoot's API server.",
      secretName(),
    ),
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
    allowInsecureShoots: allowInsecureShoots(),
    apiServerRef: about(
      "What runs the API server of a shoot, in the shoot's namespace: while it has no available replica, the API server is down, and not merely out of our reach.",
      resourceRef(gardenApiServerRef.name),
    ).prefault({ ...gardenApiServerRef }),
    externalProbe: about(
      'Tries the public way to the API server, which kubelets take, as a second signal.',
      externalProbe(),
    ).optional(),
    dependentResourceInfos: about(
      'What is scaled down, and up again.',
      listOf('a list of at least one dependent resource', dependentResource()),
    ),
  });

export type ProberConfig = z.output<ReturnType<typeof proberSchema>>;
