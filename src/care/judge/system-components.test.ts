import { describe, expect, it } from 'vitest';
import { type Parts, bad, checkInput, managedResource, observed, ok } from '../testing/check-input.ts';
import { findingOf } from './judge.ts';

const fine = { status: 'True', reason: 'SystemComponentsRunning', message: 'All system components are healthy.' };
const failing = managedResource('coredns', { conditions: [] });
const missing = {
  status: 'Failed',
  reason: 'MissingManagedResourceCondition',
  message:
    'ManagedResource coredns is missing the following condition(s), [ResourcesApplied ResourcesHealthy ResourcesProgressing]',
};

const cases: readonly (readonly [string, Parts, object])[] = [
  ['all is well', {}, fine],
  ['a ManagedResource of the shoot fails', { seed: { managedResources: ok([failing]) } }, missing],
  [
    'a ManagedResource of the seed labelled for this condition fails',
    {
      seed: {
        managedResources: ok([
          {
            ...failing,
            class: 'seed',
            meta: { ...failing.meta, labels: { 'care.gardener.cloud/condition-type': 'SystemComponentsHealthy' } },
          },
        ]),
      },
    },
    missing,
  ],
  [
    'another ManagedResource of the seed fails',
    { seed: { managedResources: ok([{ ...failing, class: 'seed' }]) } },
    fine,
  ],
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
    missing,
  ],
  [
    'there is no client for the shoot',
    { view: { kind: 'no-client', error: 'no Secret' }, seed: { managedResources: ok([failing]) } },
    {
      status: 'Unknown',
      reason: 'ConditionCheckError',
      message: 'Could not initialize Shoot client for health check: no Secret',
    },
  ],
];

describe('SystemComponentsHealthy', () => {
  it.each(cases)('%s', (_, parts, finding) => {
    expect(findingOf('SystemComponentsHealthy', checkInput(parts))).toEqual(finding);
  });
});
