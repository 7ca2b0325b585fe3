import { describe, expect, it } from 'vitest';
import {
  type Parts,
  bad,
  checkInput,
  condition,
  controlPlane,
  deployment,
  etcd,
  heldMeta,
  managedResource,
  ok,
  pool,
  without,
} from '../testing/check-input.ts';
import { findingOf } from './judge.ts';

const missing = (names: string) => ({
  status: 'Failed',
  reason: 'DeploymentMissing',
  message: `Missing required deployments: [${names}]`,
});
const fine = {
  status: 'True',
  reason: 'ControlPlaneRunning',
  message: 'All control plane components are healthy.',
};
const changed = (name: string, more: Parameters<typeof deployment>[1]) => [...without(name), deployment(name, more)];
const vpa = ['vpa-admission-controller', 'vpa-recommender', 'vpa-updater'];
const unavailable = 'condition "Available" has invalid status False (expected True) due to R: M';

const cases: readonly (readonly [string, Parts, object])[] = [
  ['all is well', {}, fine],
  [
    'one etcd is missing, and one of another role does not count',
    {
      seed: {
        etcds: ok([etcd('etcd-main'), { ...etcd('etcd-events'), meta: { ...etcd('etcd-events').meta, labels: {} } }]),
      },
    },
    { status: 'Failed', reason: 'EtcdMissing', message: 'Missing required etcds: [etcd-events]' },
  ],
  [
    'an etcd is not ready',
    { seed: { etcds: ok([etcd('etcd-events'), etcd('etcd-main', { ready: false })]) } },
    {
      status: 'Failed',
      reason: 'EtcdUnhealthy',
      message: 'Etcd extension resource "etcd-main" is unhealthy: etcd "etcd-main" is not ready yet',
    },
  ],
  [
    'Deployments could not be read, and an etcd is not ready',
    { seed: { deployments: bad('forbidden'), etcds: ok([etcd('etcd-events'), etcd('etcd-main', { ready: false })]) } },
    { status: 'Unknown', reason: 'ConditionCheckError', message: 'forbidden' },
  ],
  [
    'Deployments are missing',
    { seed: { deployments: ok(without('kube-scheduler', 'gardener-resource-manager')) } },
    missing('gardener-resource-manager kube-scheduler'),
  ],
  [
    'a workerless shoot needs fewer Deployments',
    { shoot: { pools: [] }, seed: { deployments: ok(without('kube-scheduler', 'machine-controller-manager')) } },
    fine,
  ],
  [
    'a pool may grow, but the autoscaler is missing',
    { shoot: { pools: [pool(), pool({ maximum: 3 })] } },
    missing('cluster-autoscaler'),
  ],
  ['the VPA is enabled, but missing', { shoot: { vpaEnabled: true } }, missing(vpa.join(' '))],
  [
    'a Deployment is unhealthy, required or not',
    {
      seed: {
        deployments: ok([
          ...controlPlane,
          deployment('csi', { conditions: [condition('Available', 'False', { reason: 'R', message: 'M' })] }),
        ]),
      },
    },
    { status: 'Failed', reason: 'DeploymentUnhealthy', message: `Deployment "csi" is unhealthy: ${unavailable}` },
  ],
  [
    'a Deployment of another role is unhealthy',
    { seed: { deployments: ok([...controlPlane, deployment('prometheus', { role: 'monitoring', conditions: [] })]) } },
    fine,
  ],
  [
    'the prober holds some down, whatever their replicas',
    {
      seed: {
        deployments: ok([
          ...without('kube-controller-manager', 'machine-controller-manager'),
          deployment('kube-controller-manager', heldMeta('kube-controller-manager')),
          deployment('machine-controller-manager', { ...heldMeta('machine-controller-manager'), replicas: 0 }),
        ]),
      },
    },
    {
      status: 'Failed',
      reason: 'ControllersScaledDown',
      message:
        'The following deployments have been scaled down to 0 replicas by dependency-watchdog-prober: kube-controller-manager, machine-controller-manager',
    },
  ],
  [
    'held Deployments of a workerless shoot are ignored',
    {
      shoot: { pools: [] },
      seed: { deployments: ok(changed('kube-controller-manager', heldMeta('kube-controller-manager'))) },
    },
    fine,
  ],
  [
    'a required dependant is missing',
    {
      settings: { dependants: [{ ref: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'ccm' }, optional: false }] },
    },
    {
      status: 'Failed',
      reason: 'ControllersScaledDownCheckError',
      message: 'failed reading Deployment ccm for scale-down check: deployments.apps "ccm" not found',
    },
  ],
  [
    'dependants of other kinds are not looked for',
    {
      settings: {
        dependants: [
          { ref: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'ccm' }, optional: false },
          { ref: { apiVersion: 'example.com/v1', kind: 'Deployment', name: 'ccm' }, optional: false },
        ],
      },
    },
    fine,
  ],
  [
    'a dependant of any role counts',
    {
      settings: { dependants: [{ ref: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'ccm' }, optional: true }] },
      seed: { deployments: ok([...controlPlane, deployment('ccm', { ...heldMeta('ccm'), role: '', conditions: [] })]) },
    },
    {
      status: 'Failed',
      reason: 'ControllersScaledDown',
      message: 'The following deployments have been scaled down to 0 replicas by dependency-watchdog-prober: ccm',
    },
  ],
  [
    'a roll-out takes too long',
    {
      settings: { managedResourceProgressingThreshold: 300_000 },
      seed: {
        managedResources: ok([
          managedResource('mine', { class: 'seed', conditions: [condition('ResourcesProgressing', 'True')] }),
        ]),
      },
    },
    {
      status: 'Failed',
      reason: 'ProgressingRolloutStuck',
      message: 'ManagedResource mine is progressing for more than 5m0s',
    },
  ],
];

describe('ControlPlaneHealthy', () => {
  it.each(cases)('%s', (_, parts, finding) => {
    expect(findingOf('ControlPlaneHealthy', checkInput(parts))).toEqual(finding);
  });

  it('checks etcds, then Deployments, then scale-downs, then ManagedResources', () => {
    const wrong = {
      etcds: bad('etcds'),
      deployments: ok(changed('kube-controller-manager', { ...heldMeta('kube-controller-manager'), conditions: [] })),
      managedResources: ok([managedResource('mine', { class: 'seed', conditions: [] })]),
    };
    const { etcds, deployments } = checkInput().seed;
    const held = ok(changed('kube-controller-manager', heldMeta('kube-controller-manager')));
    const reasons = [
      wrong,
      { ...wrong, etcds },
      { ...wrong, etcds, deployments: held },
      { ...wrong, etcds, deployments },
    ].map((seed) => findingOf('ControlPlaneHealthy', checkInput({ seed })).reason);
    expect(reasons).toEqual([
      'ConditionCheckError',
      'DeploymentUnhealthy',
      'ControllersScaledDown',
      'MissingManagedResourceCondition',
    ]);
  });
});
