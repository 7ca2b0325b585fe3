import { describe, expect, it } from 'vitest';
import type { Finding, ShootConditionType } from '../../gardener/shoot-conditions.ts';
import {
  type Parts,
  bad,
  checkInput,
  condition,
  controlPlane,
  deployment,
  managedResource,
  meta,
  monitoring,
  observed,
  ok,
  without,
} from '../testing/check-input.ts';
import { failed, healthy } from './finding.ts';
import { judge } from './judge.ts';

const wellObserved = healthy('ObservabilityComponentsRunning', 'All observability components are healthy.');
const missing = (names: string) => failed('DeploymentMissing', `Missing required deployments: [${names}]`);
const withDeployment = (role: string, name: string, problem?: string): Parts => ({
  seed: { deployments: ok([...controlPlane, ...monitoring, deployment(name, { role, problem })]) },
});
const withoutStateMetrics = { deployments: ok(without('kube-state-metrics')) };
const unapplied = [condition('ResourcesApplied', 'False', { reason: 'R', message: 'M' })];
const labels = { 'care.gardener.cloud/condition-type': 'ObservabilityComponentsHealthy' };
const labelled = managedResource('plutono', { class: 'seed', conditions: unapplied, meta: meta('plutono', labels) });

const fine = healthy('SystemComponentsRunning', 'All system components are healthy.');
const failing = { managedResources: ok([managedResource('coredns', { conditions: unapplied })]) };
const noTunnel = observed({ tunnel: ok({ kind: 'not-deployed' }) });

describe.each<[ShootConditionType, readonly (readonly [what: string, parts: Parts, finding: Finding])[]]>([
  [
    'ObservabilityComponentsHealthy',
    [
      ['all is well', {}, wellObserved],
      ['kube-state-metrics is missing', { seed: withoutStateMetrics }, missing('kube-state-metrics')],
      [
        'a workerless shoot needs no kube-state-metrics',
        { shoot: { pools: [] }, seed: withoutStateMetrics },
        wellObserved,
      ],
      [
        'a shoot for testing needs no Deployments',
        { shoot: { purpose: 'testing' }, seed: { deployments: ok([]) } },
        wellObserved,
      ],
      [
        'monitoring is unhealthy',
        withDeployment('monitoring', 'plutono', 'R'),
        failed('DeploymentUnhealthy', 'Deployment "plutono" is unhealthy: R'),
      ],
      ['logging is on without an event logger', withDeployment('logging', 'vali'), missing('event-logger')],
      [
        'the event logger is missing, but its ManagedResource exists',
        { seed: { managedResources: ok([managedResource('shoot-event-logger')]) } },
        missing('event-logger'),
      ],
      [
        'a ManagedResource labelled for this condition fails',
        { seed: { managedResources: ok([labelled]) } },
        failed('R', 'M'),
      ],
    ],
  ],
  [
    'SystemComponentsHealthy',
    [
      ['all is well', {}, fine],
      [
        'there is no tunnel',
        { view: noTunnel },
        failed('NoTunnelDeployed', 'no tunnels are currently deployed to perform health-check on'),
      ],
      [
        'the tunnel is broken',
        { view: observed({ tunnel: ok({ kind: 'broken', error: 'no route' }) }) },
        failed('TunnelConnectionBroken', 'Tunnel connection has not been established (no route)'),
      ],
      ['a workerless shoot has no tunnel', { shoot: { pools: [] }, view: observed({ tunnel: bad('none') }) }, fine],
      ['ManagedResources come before the tunnel', { seed: failing, view: noTunnel }, failed('R', 'M')],
    ],
  ],
])('%s', (type, cases) => {
  it.each(cases)('%s', (_, parts, finding) => {
    expect(judge(checkInput(parts)).get(type)).toEqual(finding);
  });
});
