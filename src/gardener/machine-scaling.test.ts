import { expect, it } from 'vitest';
import { decodeMachineDeploymentHealth } from './machine-deployment.ts';
import { countMachines, scaleDownProblem, scaleUpProblem } from './machine-scaling.ts';
import type { Machine } from './machine.ts';
import type { NodeHealth } from './node.ts';

const node = (name: string, more: Partial<NodeHealth> = {}): NodeHealth => ({
  ...{ meta: { name }, managedByMcm: true, unschedulable: false, kubeletVersion: 'v1.33.2', ready: true },
  ...more,
});
const cordoned = (name: string, managedByMcm = true) => node(name, { unschedulable: true, managedByMcm });
const deployment = (replicas: number | undefined, deletionTimestamp?: string) =>
  decodeMachineDeploymentHealth({ metadata: { name: 'pool', deletionTimestamp }, spec: { replicas } }, 'it');
const machines = (...phases: readonly string[]): readonly Machine[] =>
  phases.map((phase) => ({ node: '', phase, deleting: false }));

it('counting leaves out MachineDeployments that are being deleted, and nodes that are not managed or not ready', () => {
  const nodes = [node('a'), node('b', { ready: false }), cordoned('c'), node('d', { managedByMcm: false })];
  const deployments = [deployment(2), deployment(3), deployment(undefined), deployment(9, '2026-01-01T00:00:00Z')];
  expect(countMachines(deployments, nodes)).toEqual({ desired: 5, registered: 3, ready: 1 });
});

it.each([
  ['all ready', 2, 2, ['Running', 'Failed'], undefined],
  ['no machine objects', 2, 0, [], 'not enough machine objects created yet (0/2)'],
  ['an erroneous machine', 2, 1, ['Running', 'Failed'], '1 machine is erroneous'],
  ['several', 4, 1, ['CrashLoopBackOff', 'Unknown', 'Terminating', 'Pending'], '3 machines are erroneous'],
  [
    'machines whose nodes are not ready',
    2,
    1,
    ['Running', 'Available'],
    'not enough ready worker nodes registered in the cluster (1/2)',
  ],
  [
    'machines that are provisioning',
    3,
    1,
    ['Available', 'Pending', ''],
    '2 machines are provisioning and should join the cluster soon',
  ],
])('scaling up: %s', (_, desired, ready, phases, text) => {
  const problem = scaleUpProblem({ desired, registered: ready, ready }, machines(...phases));
  expect(problem?.text).toBe(text);
  expect(problem?.underWay ?? false).toBe(text?.endsWith('join the cluster soon') ?? false);
});

const drained =
  'waiting to be completely drained from pods. If this persists, check your pod disruption budgets and pending finalizers. Please note, that nodes that fail to be drained will be deleted automatically';
const going = (name: string): Machine => ({ node: name, phase: 'Terminating', deleting: true });
const staying = (name: string): Machine => ({ node: name, phase: 'Running', deleting: false });

it.each([
  ['as many as desired', 2, [node('a'), node('b')], [], undefined],
  [
    'no machine for a cordoned node',
    1,
    [node('a'), cordoned('b')],
    [],
    'machine object for cordoned node "b" not found',
  ],
  [
    'a machine that is not being deleted',
    1,
    [node('a'), cordoned('b')],
    [staying('a'), staying('b')],
    'cordoned node "b" found but corresponding machine object does not have a deletion timestamp',
  ],
  [
    'too many',
    1,
    [node('a'), node('b'), cordoned('c')],
    [staying('a'), staying('b'), going('c')],
    'too many worker nodes are registered. Exceeding maximum desired machine count (3/1)',
  ],
  [
    'a cordoned node that MCM does not manage does not count as draining',
    1,
    [node('a'), node('b'), cordoned('c', false)],
    [staying('a'), staying('b')],
    'too many worker nodes are registered. Exceeding maximum desired machine count (2/1)',
  ],
  ['a draining node', 1, [node('a'), cordoned('b')], [going('b')], `1 machine is ${drained}`],
  ['several draining nodes', 0, [cordoned('a'), cordoned('b')], [going('a'), going('b')], `2 machines are ${drained}`],
])('scaling down: %s', (_, desired, nodes, all, text) => {
  const registered = nodes.filter(({ managedByMcm }) => managedByMcm).length;
  const problem = scaleDownProblem({ desired, registered, ready: 0 }, nodes, all);
  expect(problem?.text).toBe(text);
  expect(problem?.underWay ?? false).toBe(text?.endsWith(drained) ?? false);
});
