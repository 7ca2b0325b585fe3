import { describe, expect, it } from 'vitest';
import type { NodeHealth } from '../../gardener/node.ts';
import {
  type Parts,
  bad,
  checkInput,
  condition,
  machineDeployment,
  meta,
  node,
  now,
  observed,
  ok,
  pool,
} from '../testing/check-input.ts';
import { checkError, failed, healthy } from './finding.ts';
import { judge } from './judge.ts';
import type { ShootObservation } from './observation.ts';

const fine = healthy('EveryNodeReady', 'All nodes are ready.');
const withNodes = (...nodes: readonly NodeHealth[]): Parts => ({ view: observed({ nodes: ok(nodes) }) });
const notReady = (name: string, problem: string): NodeHealth => node(name, { ready: false, problem });
const unhealthy = (problem: string) => `Node "b" in worker group "worker" is unhealthy: ${problem}`;

const cases: readonly (readonly [string, Parts, object])[] = [
  ['all is well', {}, fine],
  ['nodes could not be read', { view: observed({ nodes: bad('timeout') }) }, checkError('timeout')],
  [
    'a node is not ready',
    withNodes(node('a'), notReady('b', 'KubeletDown')),
    failed('NodeUnhealthy', unhealthy('KubeletDown')),
  ],
  ...['KubeletHasInsufficientMemory', 'kubelethasdiskpressure', 'KubeletHasInsufficientPID'].map(
    (reason) =>
      [
        `a node is not ready because of the configuration: ${reason}`,
        withNodes(node('a'), notReady('b', reason)),
        failed('NodeUnhealthy', unhealthy(reason), ['ERR_CONFIGURATION_PROBLEM']),
      ] as const,
  ),
  [
    'a node is not ready, and others are missing',
    withNodes(notReady('b', 'R')),
    failed('NodeUnhealthy', unhealthy('R')),
  ],
  ['a node without a pool is ignored', withNodes(node('a'), node('b'), without(notReady('c', 'R'))), fine],
  [
    'a node of a pool that is not in the spec counts against the machines only',
    withNodes(node('a'), node('b'), node('c', { pool: 'old', ready: false, problem: 'x' })),
    failed('NodesScalingDown', 'too many worker nodes are registered. Exceeding maximum desired machine count (3/2)'),
  ],
  [
    'a kubelet is of an older patch',
    withNodes(node('a'), node('b', { kubeletVersion: 'v1.33.1' })),
    failed(
      'KubeletVersionMismatch',
      'The kubelet version for node "b" (v1.33.1) does not match the desired Kubernetes version (v1.33.2)',
    ),
  ],
  [
    'a kubelet reports no version',
    withNodes(node('a'), node('b', { kubeletVersion: '' })),
    failed(
      'VersionParseError',
      'Error checking for same major minor Kubernetes version for node "b": improper constraint: "~ "',
    ),
  ],
  [
    'nodes are missing',
    withNodes(node('a')),
    failed(
      'MissingNodes',
      'Not enough worker nodes registered in worker pool "worker" to meet minimum desired machine count. (1/2).',
    ),
  ],
  [
    'the pools are checked in their order',
    {
      shoot: { pools: [pool({ name: 'x', minimum: 1 }), pool()] },
      ...withNodes(notReady('b', 'R')),
    },
    failed(
      'MissingNodes',
      'Not enough worker nodes registered in worker pool "x" to meet minimum desired machine count. (0/1).',
    ),
  ],
  ['MachineDeployments could not be read', { seed: { machineDeployments: bad('forbidden') } }, checkError('forbidden')],
  ['machines could not be read', { seed: { machines: bad('forbidden') } }, checkError('forbidden')],
  ['leases could not be read', { view: observed({ leases: bad('timeout') }) }, checkError('timeout')],
];

function without({ pool: _, ...others }: NodeHealth): NodeHealth {
  return others;
}

describe('EveryNodeReady', () => {
  it.each(cases)('%s', (_, parts, finding) => {
    expect(judge(checkInput(parts)).get('EveryNodeReady')).toEqual(finding);
  });

  const rolling = { rollingOut: true };
  const machine = (phase: string, name = '') => ({ node: name, phase, deleting: false });
  const [a, b] = [machine('Running', 'a'), machine('Running', 'b')];
  const cordoned = { ...node('b'), unschedulable: true };
  const failing = { failedMachines: [{ name: 'm', description: 'quota' }] };

  const scaling = (deployments: readonly ReturnType<typeof machineDeployment>[], machines = [a, b]) => ({
    machineDeployments: ok(deployments),
    machines: ok(machines),
  });
  const three = [a, b, machine('')];

  it.each([
    ['machines are missing', scaling([machineDeployment('w', 3)]), [], 'NodesScalingUp'],
    ['a roll-out', scaling([machineDeployment('w', 3, rolling)], three), [], 'NodesRollOutScalingUp'],
    ['a roll-out with a machine too many', scaling([machineDeployment('w', 1, rolling)]), [], 'NodesScalingDown'],
    [
      'a roll-out before the first MachineDeployment with failed machines',
      scaling([machineDeployment('v', 1, rolling), machineDeployment('w', 2, failing)], three),
      [],
      'NodesRollOutScalingUp',
    ],
    [
      'a roll-out of a MachineDeployment with failed machines',
      scaling([machineDeployment('w', 3, { ...failing, ...rolling })], three),
      [],
      'NodesScalingUp',
    ],
    [
      'a roll-out after the first MachineDeployment with failed machines',
      scaling([machineDeployment('v', 1, failing), machineDeployment('w', 2, rolling)], three),
      [],
      'NodesScalingUp',
    ],
    ['a node is cordoned', scaling([machineDeployment('w', 2)]), [cordoned], 'NodesRollOutScalingUp'],
    [
      'a cordoned node is drained',
      scaling([machineDeployment('w', 1)], [a, { ...b, deleting: true }]),
      [cordoned],
      'NodesScalingDown',
    ],
  ])('%s', (_, seed, nodes, reason) => {
    const parts = { seed, ...(nodes.length > 0 && withNodes(node('a'), ...nodes)) };
    expect(judge(checkInput(parts)).get('EveryNodeReady')).toMatchObject({ status: 'Failed', reason });
  });

  const expired = (percent: number) =>
    failed(
      'TooManyExpiredNodeLeases',
      `${percent}% of all Leases in kube-node-lease namespace are expired - dependency-watchdog-prober might start scaling down controllers`,
    );

  it.each([
    ['1 of 10', 1, 0, 9, fine],
    ['2 of 10', 2, 0, 8, expired(20)],
    ['19.5 %', 39, 0, 161, fine],
    ['only those of nodes that are gone', 0, 9, 1, fine],
    ['no lease at all', 0, 0, 0, fine],
  ])('expired leases: %s', (_, count, gone, valid, finding) => {
    const names = Array.from({ length: 40 }, (_item, index) => `n${String(index)}`);
    const lease = (name: string, expiresAt: number) => ({ name, renewTime: expiresAt * 1_000 });
    const leases = [
      ...names.slice(0, count).map((name) => lease(name, now - 1)),
      ...Array.from({ length: gone }, () => lease('gone', now - 1)),
      ...Array.from({ length: valid }, () => lease('other', now)),
    ];
    const parts: Parts = {
      view: observed({ nodes: ok(names.map((name) => node(name))), leases: ok(leases) }),
      seed: scaling(
        [machineDeployment('w', names.length)],
        names.map((name) => machine('Running', name)),
      ),
    };
    expect(judge(checkInput(parts)).get('EveryNodeReady')).toEqual(finding);
  });

  const at = (type: string) => ({ type, state: 'Processing', lastUpdateTime: '' });
  const stopped = { kind: 'not-running' } as const;
  it.each<[ShootObservation, operation: string, string]>([
    [{ kind: 'no-client', error: 'E' }, 'Create', 'Could not initialize Shoot client for health check: E'],
    [stopped, 'Create', 'Shoot control plane has not been fully created yet.'],
    [stopped, 'Delete', 'Shoot control plane has already been or is about to be deleted.'],
    [stopped, 'Reconcile', 'Shoot control plane is not running at the moment.'],
  ])('%j during the operation %s, whatever extensions report', (view, operation, message) => {
    const conditions = [condition('EveryNodeReady', 'False')];
    const report = { kind: 'Worker', meta: meta('w'), type: 'local', conditions, heartbeat: { kind: 'own' } } as const;
    const parts = { view, shoot: { lastOperation: at(operation) }, seed: { extensions: [ok(report)] } };
    expect(judge(checkInput(parts)).get('EveryNodeReady')).toEqual(checkError(message));
  });
});
