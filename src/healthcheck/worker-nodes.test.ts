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

interface State {
  readonly deployments: readonly object[];
  readonly machines?: readonly object[];
  readonly nodes?: readonly object[];
}

const answersOf = ({ deployments, machines = [], nodes = [] }: State): { seed: StubAnswers; shoot: StubAnswers } => ({
  seed: {
    [`${machinePath}/machinedeployments`]: { items: deployments },
    [`${machinePath}/machines`]: { items: machines },
  },
  shoot: { '/api/v1/nodes': { items: nodes } },
});

describe('the check of worker nodes', () => {
  const unavailable = 'm (R)';
  const two = [buildNode({ name: 'a' }), buildNode({ name: 'b' })];

  const rows: readonly (readonly [string, State, object])[] = [
    [
      'all nodes ready',
      { deployments: [deployment(2, 'True')], machines: [machine('a'), machine('b')], nodes: two },
      { status: 'True' },
    ],
    ['no machine deployments', { deployments: [] }, { status: 'True' }],
    [
      'a failed machine before anything else',
      {
        deployments: [
          deployment(2, 'False', {
            failedMachines: [{ name: 'm"1', lastOperation: { description: 'quota exceeded' } }],
          }),
        ],
      },
      { status: 'False', detail: 'machine "m\\"1" failed: quota exceeded' },
    ],
    [
      'machines that are provisioning',
      {
        deployments: [deployment(2, 'False')],
        machines: [machine('a'), machine('b', 'Pending')],
        nodes: [buildNode({ name: 'a' })],
      },
      {
        status: 'Progressing',
        detail: '1 machine is provisioning and should join the cluster soon',
        progressingThresholdMs: 300_000,
      },
    ],
    [
      'unavailable although all nodes are ready',
      { deployments: [deployment(2, 'False')], machines: [machine('a'), machine('b')], nodes: two },
      {
        status: 'False',
        detail: `machine deployment "pool-1" in namespace "shoot--dev--one" is unhealthy: ${unavailable}`,
      },
    ],
    [
      'a node that is being drained',
      {
        deployments: [deployment(1, 'True')],
        machines: [machine('a'), machine('b', 'Terminating', true)],
        nodes: [buildNode({ name: 'a' }), cordoned('b')],
      },
      {
        status: 'Progressing',
        detail:
          '1 machine is waiting to be completely drained from pods. If this persists, check your pod disruption budgets and pending finalizers. Please note, that nodes that fail to be drained will be deleted automatically',
        progressingThresholdMs: 900_000,
      },
    ],
  ];

  it.each(rows)('%s', async (_, state, result) => {
    expect(await workerNodesCheck()(contextOf(answersOf(state)))).toEqual(result);
  });

  it('accepts other thresholds', async () => {
    const check = workerNodesCheck({ scaleUpThresholdMs: 1, scaleDownThresholdMs: 2 });
    const up = answersOf({ deployments: [deployment(1, 'False')], machines: [machine('a', 'Pending')] });
    const down = answersOf({
      deployments: [deployment(0, 'True')],
      machines: [machine('a', 'Terminating', true)],
      nodes: [cordoned('a')],
    });
    expect(await check(contextOf(up))).toMatchObject({ progressingThresholdMs: 1 });
    expect(await check(contextOf(down))).toMatchObject({ progressingThresholdMs: 2 });
  });
});
