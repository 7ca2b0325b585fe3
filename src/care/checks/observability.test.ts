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
  ok,
  without,
} from '../testing/check-input.ts';
import { checkObservability } from './observability.ts';

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
    'a workerless shoot needs none',
    { shoot: { pools: [] }, seed: { deployments: ok(without('kube-state-metrics')) } },
    fine,
  ],
  ['a shoot for testing needs none', { shoot: { purpose: 'testing' }, seed: { deployments: ok([]) } }, fine],
  [
    'one for evaluation does',
    { shoot: { purpose: 'evaluation' }, seed: { deployments: ok([]) } },
    missing('kube-state-metrics'),
  ],
  [
    'monitoring is unhealthy',
    withDeployments(ofRole('monitoring', 'plutono', { conditions: [] })),
    unhealthy('plutono'),
  ],
  ['logging is on, and all is well', withDeployments(ofRole('logging', 'event-logger')), fine],
  ['logging is on without an event logger', withDeployments(ofRole('logging', 'vali')), missing('event-logger')],
  [
    'logging is unhealthy',
    withDeployments(ofRole('logging', 'event-logger', { conditions: [] })),
    unhealthy('event-logger'),
  ],
  [
    'the event logger has gone, but not what came with it',
    { seed: { managedResources: ok([managedResource('shoot-event-logger')]) } },
    missing('event-logger'),
  ],
  [
    'the control plane is unhealthy',
    { seed: { deployments: ok([...monitoring, deployment('kube-apiserver', { conditions: [] })]) } },
    fine,
  ],
  [
    'Deployments could not be read',
    { seed: { deployments: bad('forbidden') } },
    { status: 'Unknown', reason: 'ConditionCheckError', message: 'forbidden' },
  ],
  [
    'a ManagedResource that counts for it fails',
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
  ['another fails', { seed: { managedResources: ok([labelled]) } }, fine],
  ['the shoot could not be asked', { view: { kind: 'not-running' } }, fine],
];

describe('ObservabilityComponentsHealthy', () => {
  it.each(cases)('%s', (_, parts, finding) => {
    expect(checkObservability(checkInput(parts))).toEqual(finding);
  });
});
