import { describe, expect, it } from 'vitest';
import {
  type Parts,
  checkInput,
  condition,
  controlPlane,
  deployment,
  managedResource,
  monitoring,
  ok,
  without,
} from '../testing/check-input.ts';
import { findingOf } from './judge.ts';

const fine = {
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

const cases: readonly (readonly [string, Parts, object])[] = [
  ['all is well', {}, fine],
  [
    'kube-state-metrics is missing',
    { seed: { deployments: ok(without('kube-state-metrics')) } },
    missing('kube-state-metrics'),
  ],
  [
    'a workerless shoot needs no kube-state-metrics',
    { shoot: { pools: [] }, seed: { deployments: ok(without('kube-state-metrics')) } },
    fine,
  ],
  ['a shoot for testing needs no Deployments', { shoot: { purpose: 'testing' }, seed: { deployments: ok([]) } }, fine],
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
  ['a ManagedResource labelled for another condition fails', { seed: { managedResources: ok([labelled]) } }, fine],
];

describe('ObservabilityComponentsHealthy', () => {
  it.each(cases)('%s', (_, parts, finding) => {
    expect(findingOf('ObservabilityComponentsHealthy', checkInput(parts))).toEqual(finding);
  });
});
