import type { z } from 'zod';
import {
  atLeast,
  boolean,
  duration,
  fraction,
  integer,
  listOf,
  nonEmptyText,
  number,
  object,
  oneOf,
  positive,
  secretName,
} from './fields.ts';

const scaleInfo = () =>
  object('an object with level, initialDelay and timeout', {
    level: integer(atLeast(0)),
    initialDelay: duration(atLeast(0)).prefault('0s'),
    timeout: duration(positive).prefault('30s'),
  });

const dependentResource = () =>
  object('an object with ref, optional, scaleUp and scaleDown', {
    ref: object('an object with apiVersion, kind and name', {
      apiVersion: nonEmptyText('apps/v1'),
      kind: nonEmptyText('Deployment'),
      name: nonEmptyText('kube-controller-manager'),
    }),
    optional: boolean().prefault(false),
    scaleUp: scaleInfo().optional(),
    scaleDown: scaleInfo().optional(),
  });

const externalProbe = () =>
  object('an object with kubeConfigSecretName, timeout, failureThreshold, successThreshold and mode', {
    kubeConfigSecretName: secretName(),
    timeout: duration(positive).prefault('5s'),
    failureThreshold: integer(atLeast(1)).prefault(3),
    successThreshold: integer(atLeast(1)).prefault(1),
    mode: oneOf('observe', 'confirm', 'trigger').prefault('observe'),
  });

/** The prober's configuration file; durations come out in milliseconds. */
export const proberSchema = () =>
  object('an object with kubeConfigSecretName and dependentResourceInfos', {
    kubeConfigSecretName: secretName(),
    probeInterval: duration(positive).prefault('10s'),
    initialDelay: duration(atLeast(0)).prefault('30s'),
    probeTimeout: duration(positive).prefault('30s'),
    backoffJitterFactor: number(atLeast(0)).prefault(0.2),
    kcmNodeMonitorGraceDuration: duration(positive).prefault('40s'),
    nodeLeaseFailureFraction: number(fraction).prefault(0.6),
    externalProbe: externalProbe().optional(),
    dependentResourceInfos: listOf('a list of at least one dependent resource', dependentResource()),
  });

export type ProberConfig = z.output<ReturnType<typeof proberSchema>>;
