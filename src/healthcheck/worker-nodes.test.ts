import { describe, expect, it } from 'vitest';
import { buildMachine, buildNode } from '../../test/doubles/builders.ts';
import { type StubAnswers, contextOf } from './testing/stub-client.ts';
import { workerNodesCheck } from './worker-nodes.ts';

const namespace = 'shoot--dev--one';
const machinePath = `/apis/machine.sapcloud.io/v1alpha1/namespaces/${namespace}`;

const deployment = (replicas: number, available: string, options: object = {}) => ({
  metadata: { name: 'pool-1', namespace, generation: 1 },
  spec: { replicas },
  status: {
    observedGeneration: 1,
    conditions: [{ type: 'Available', status: available, reason: 'R', message: 'm' }],
    ...options,
  },
});
const machine = (name: string, phase = 'Running', going = false) => {
  const built = buildMachine({ name, phase });
  return going ? { ...built, metadata: { ...built.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } : built;
};
const cordoned = (name: string) => ({ ...buildNode({ name }), spec: { unschedulable: true } });

const check = (state: Partial<Record<'deployments' | 'machines' | 'nodes', readonly object[]>>, options = {}) => {
  const { deployments = [], machines = [], nodes = [] } = state;
  const seed: StubAnswers = {
    [`${machinePath}/machinedeployments`]: { items: deployments },
    [`${machinePath}/machines`]: { items: machines },
  };
  return workerNodesCheck(options)(contextOf({ seed, shoot: { '/api/v1/nodes': { items: nodes } } }));
};

describe('the check of worker nodes', () => {
  const [a, b] = [buildNode({ name: 'a' }), buildNode({ name: 'b' })];
  const failedMachines = [{ name: 'm"1', lastOperation: { description: 'quota exceeded' } }];

  it.each<[string, Parameters<typeof check>[0], object]>([
    [
      'all nodes ready',
      { deployments: [deployment(2, 'True')], machines: [machine('a'), machine('b')], nodes: [a, b] },
      { status: 'True' },
    ],
    ['no machine deployments', {}, { status: 'True' }],
    [
      'a failed machine before anything else',
      { deployments: [deployment(2, 'False', { failedMachines })] },
      { status: 'False', detail: 'machine "m\\"1" failed: quota exceeded' },
    ],
    [
      'unavailable although all nodes are ready',
      { deployments: [deployment(2, 'False')], machines: [machine('a'), machine('b')], nodes: [a, b] },
      {
        status: 'False',
        detail: 'machine deployment "pool-1" in namespace "shoot--dev--one" is unhealthy: m (R)',
      },
    ],
  ])('%s', async (_, state, result) => {
    expect(await check(state)).toEqual(result);
  });

  it.each([
    [{}, 300_000, 900_000],
    [{ scaleUpThresholdMs: 1, scaleDownThresholdMs: 2 }, 1, 2],
  ])('with %j is Progressing for a time while machines come or nodes are drained', async (options, up, down) => {
    const comes = [machine('a'), machine('b', 'Pending')];
    expect(await check({ deployments: [deployment(2, 'False')], machines: comes, nodes: [a] }, options)).toEqual({
      status: 'Progressing',
      detail: '1 machine is provisioning and should join the cluster soon',
      progressingThresholdMs: up,
    });
    const going = { machines: [machine('a'), machine('b', 'Terminating', true)], nodes: [a, cordoned('b')] };
    expect(await check({ deployments: [deployment(1, 'True')], ...going }, options)).toMatchObject({
      status: 'Progressing',
      detail: expect.stringMatching(/^1 machine is waiting to be completely drained from pods\./) as string,
      progressingThresholdMs: down,
    });
  });
});
