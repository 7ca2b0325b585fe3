import { describe, expect, it } from 'vitest';
import type { Finding } from '../../gardener/shoot-conditions.ts';
import {
  type Parts,
  bad,
  checkInput,
  controlPlane,
  deployment,
  etcd,
  heldMeta,
  managedResource,
  meta,
  ok,
  pool,
  without,
} from '../testing/check-input.ts';
import { checkError, failed, healthy } from './finding.ts';
import { judge } from './judge.ts';

const missing = (names: string) => failed('DeploymentMissing', `Missing required deployments: [${names}]`);
const fine = healthy('ControlPlaneRunning', 'All control plane components are healthy.');
const held = (names: string) =>
  failed(
    'ControllersScaledDown',
    `The following deployments have been scaled down to 0 replicas by dependency-watchdog-prober: ${names}`,
  );

const kcm = 'kube-controller-manager';
const mcm = 'machine-controller-manager';
const changed = (name: string, more: Parameters<typeof deployment>[1]) => [...without(name), deployment(name, more)];
const withDeployments = (...deployments: readonly ReturnType<typeof deployment>[]): Parts => ({
  seed: { deployments: ok(deployments) },
});
const dependant = (name: string, optional = false, of = { apiVersion: 'apps/v1', kind: 'Deployment' }) => ({
  ref: { ...of, name },
  optional,
});
const unready = ok([etcd('etcd-events'), etcd('etcd-main', 'etcd "etcd-main" is not ready yet')]);

const cases: readonly (readonly [string, Parts, Finding])[] = [
  ['all is well', {}, fine],
  [
    'one etcd is missing, and one of another role does not count',
    { seed: { etcds: ok([etcd('etcd-main'), { meta: meta('etcd-events') }]) } },
    failed('EtcdMissing', 'Missing required etcds: [etcd-events]'),
  ],
  [
    'an etcd is not ready',
    { seed: { etcds: unready } },
    failed('EtcdUnhealthy', 'Etcd extension resource "etcd-main" is unhealthy: etcd "etcd-main" is not ready yet'),
  ],
  [
    'Deployments could not be read, and an etcd is not ready',
    { seed: { deployments: bad('forbidden'), etcds: unready } },
    checkError('forbidden'),
  ],
  [
    'Deployments are missing',
    withDeployments(...without('kube-scheduler', 'gardener-resource-manager')),
    missing('gardener-resource-manager kube-scheduler'),
  ],
  [
    'a workerless shoot needs fewer Deployments',
    { shoot: { pools: [] }, ...withDeployments(...without('kube-scheduler', mcm)) },
    fine,
  ],
  [
    'a pool may grow, but the autoscaler is missing',
    { shoot: { pools: [pool(), pool({ maximum: 3 })] } },
    missing('cluster-autoscaler'),
  ],
  [
    'the VPA is enabled, but missing',
    { shoot: { vpaEnabled: true } },
    missing('vpa-admission-controller vpa-recommender vpa-updater'),
  ],
  [
    'a Deployment is unhealthy, required or not',
    withDeployments(...controlPlane, deployment('csi', { problem: 'R' })),
    failed('DeploymentUnhealthy', 'Deployment "csi" is unhealthy: R'),
  ],
  [
    'a Deployment of another role is unhealthy',
    withDeployments(...controlPlane, deployment('prometheus', { role: 'monitoring', problem: 'R' })),
    fine,
  ],
  [
    'the prober holds some down, whatever their replicas',
    withDeployments(
      ...without(kcm, mcm),
      deployment(kcm, heldMeta(kcm)),
      deployment(mcm, { ...heldMeta(mcm), replicas: 0 }),
    ),
    held(`${kcm}, ${mcm}`),
  ],
  [
    'held Deployments of a workerless shoot are ignored',
    { shoot: { pools: [] }, ...withDeployments(...changed(kcm, heldMeta(kcm))) },
    fine,
  ],
  [
    'a required dependant is missing',
    { settings: { dependants: [dependant('ccm')] } },
    failed(
      'ControllersScaledDownCheckError',
      'failed reading Deployment ccm for scale-down check: deployments.apps "ccm" not found',
    ),
  ],
  [
    'dependants of other kinds are not looked for',
    {
      settings: {
        dependants: [
          dependant('ccm', false, { apiVersion: 'apps/v1', kind: 'StatefulSet' }),
          dependant('ccm', false, { apiVersion: 'example.com/v1', kind: 'Deployment' }),
        ],
      },
    },
    fine,
  ],
  [
    'a dependant of any role counts',
    {
      settings: { dependants: [dependant('ccm', true)] },
      ...withDeployments(...controlPlane, deployment('ccm', { ...heldMeta('ccm'), role: '', problem: 'R' })),
    },
    held('ccm'),
  ],
];

describe('ControlPlaneHealthy', () => {
  it.each(cases)('%s', (_, parts, finding) => {
    expect(judge(checkInput(parts)).get('ControlPlaneHealthy')).toEqual(finding);
  });

  it('checks etcds, then Deployments, then scale-downs, then ManagedResources', () => {
    const wrong = {
      etcds: bad('etcds'),
      deployments: ok(changed(kcm, { ...heldMeta(kcm), problem: 'R' })),
      managedResources: ok([managedResource('mine', { class: 'seed', conditions: [] })]),
    };
    const { etcds, deployments } = checkInput().seed;
    const reasons = [
      wrong,
      { ...wrong, etcds },
      { ...wrong, etcds, deployments: ok(changed(kcm, heldMeta(kcm))) },
      { ...wrong, etcds, deployments },
    ].map((seed) => judge(checkInput({ seed })).get('ControlPlaneHealthy')?.reason);
    expect(reasons).toEqual([
      'ConditionCheckError',
      'DeploymentUnhealthy',
      'ControllersScaledDown',
      'MissingManagedResourceCondition',
    ]);
  });
});
