import { describe, expect, it } from 'vitest';
import {
  type Parts,
  bad,
  checkInput,
  condition,
  controlPlane,
  deployment,
  managedResource,
  monitoring,
  observed,
  ok,
  without,
} from '../testing/check-input.ts';
import { findingOf } from './judge.ts';

const allObserved = {
  status: 'True',
  reason: 'ObservabilityComponentsRunning',
  message: 'All observability components are healthy.',
};
const missing = (names: string) => ({
  status: 'Failed',
  reason: 'DeploymentMissing',
  message: `Missing required deployments: [${names}]`,
});
const unhealthy = (name: string) => ({
  status: 'Failed',
  reason: 'DeploymentUnhealthy',
  message: `Deployment "${name}" is unhealthy: condition "Available" is missing`,
});
const ofRole = (role: string, name: string, more: object = {}) => deployment(name, { role, ...more });
const withDeployments = (...more: readonly ReturnType<typeof deployment>[]): Parts => ({
  seed: { deployments: ok([...controlPlane, ...monitoring, ...more]) },
});
const labelled = managedResource('plutono', {
  class: 'seed',
  conditions: [condition('ResourcesApplied', 'False', { reason: 'R', message: 'M' })],
});

type Case = readonly [what: string, parts: Parts, finding: object];

const cases: readonly Case[] = [
  ['all is well', {}, allObserved],
  [
    'kube-state-metrics is missing',
    { seed: { deployments: ok(without('kube-state-metrics')) } },
    missing('kube-state-metrics'),
  ],
  [
    'a workerless shoot needs no kube-state-metrics',
    { shoot: { pools: [] }, seed: { deployments: ok(without('kube-state-metrics')) } },
    allObserved,
  ],
  [
    'a shoot for testing needs no Deployments',
    { shoot: { purpose: 'testing' }, seed: { deployments: ok([]) } },
    allObserved,
  ],
  [
    'monitoring is unhealthy',
    withDeployments(ofRole('monitoring', 'plutono', { conditions: [] })),
    unhealthy('plutono'),
  ],
  ['logging is on without an event logger', withDeployments(ofRole('logging', 'vali')), missing('event-logger')],
  [
    'the event logger is missing, but its ManagedResource exists',
    { seed: { managedResources: ok([managedResource('shoot-one'), managedResource('shoot-event-logger')]) } },
    missing('event-logger'),
  ],
  [
    'a ManagedResource labelled for this condition fails',
    {
      seed: {
        managedResources: ok([
          {
            ...labelled,
            meta: {
              ...labelled.meta,
              labels: { 'care.gardener.cloud/condition-type': 'ObservabilityComponentsHealthy' },
            },
          },
        ]),
      },
    },
    { status: 'Failed', reason: 'R', message: 'M' },
  ],
];

describe('ObservabilityComponentsHealthy', () => {
  it.each(cases)('%s', (_, parts, finding) => {
    expect(findingOf('ObservabilityComponentsHealthy', checkInput(parts))).toEqual(finding);
  });
});

const fine = { status: 'True', reason: 'SystemComponentsRunning', message: 'All system components are healthy.' };
const failing = managedResource('coredns', { conditions: [] });
const unreported = {
  status: 'Failed',
  reason: 'MissingManagedResourceCondition',
  message:
    'ManagedResource coredns is missing the following condition(s), [ResourcesApplied ResourcesHealthy ResourcesProgressing]',
};

const systemCases: readonly Case[] = [
  ['all is well', {}, fine],
  ['a ManagedResource of the shoot fails', { seed: { managedResources: ok([failing]) } }, unreported],
  [
    'there is no tunnel',
    { view: observed({ tunnel: ok({ kind: 'not-deployed' }) }) },
    {
      status: 'Failed',
      reason: 'NoTunnelDeployed',
      message: 'no tunnels are currently deployed to perform health-check on',
    },
  ],
  [
    'the tunnel is broken',
    { view: observed({ tunnel: ok({ kind: 'broken', error: 'no route' }) }) },
    {
      status: 'Failed',
      reason: 'TunnelConnectionBroken',
      message: 'Tunnel connection has not been established (no route)',
    },
  ],
  ['a workerless shoot has no tunnel', { shoot: { pools: [] }, view: observed({ tunnel: bad('none') }) }, fine],
  [
    'ManagedResources come before the tunnel',
    { seed: { managedResources: ok([failing]) }, view: observed({ tunnel: ok({ kind: 'not-deployed' }) }) },
    unreported,
  ],
];

describe('SystemComponentsHealthy', () => {
  it.each(systemCases)('%s', (_, parts, finding) => {
    expect(findingOf('SystemComponentsHealthy', checkInput(parts))).toEqual(finding);
  });
});
