import { describe, expect, it } from 'vitest';
import { buildMachine, buildNode } from '../../test/doubles/builders.ts';
import { type PoolConditions, defaultNodeConditions, chooseCandidates, choosePlainNodes } from './candidate-nodes.ts';
import { decodeMachine } from './machine.ts';
import { decodeNode } from './node.ts';

type NodeInit = Partial<Parameters<typeof buildNode>[0]>;
type MachineInit = Partial<Parameters<typeof buildMachine>[0]>;

const notManaged = 'node.machine.sapcloud.io/not-managed-by-mcm';
const node = (options: NodeInit = {}) => decodeNode(buildNode({ name: 'node-1', ...options }), 'node');
const machine = (options: MachineInit = {}) =>
  decodeMachine(buildMachine({ name: 'machine-1', node: 'node-1', ...options }), 'machine');
const inPlace = (reason?: string, status: 'True' | 'False' = 'True', type = 'InPlaceUpdate'): NodeInit => ({
  conditions: [{ type, status, ...(reason !== undefined && { reason }) }],
});

describe('a node of Gardener', () => {
  const gone = 'its Machine is gone, or it never had one';
  const updated = 'in an in-place update';

  it.each<[why: string | undefined, options: NodeInit, machines?: readonly MachineInit[]]>([
    [undefined, { annotations: { 'node.machine.sapcloud.io/last-applied': 'x' } }],
    ['not managed by MCM', { annotations: { [notManaged]: '' } }],
    ['not managed by MCM', { annotations: { [notManaged]: 'false' } }],
    [
      'its condition NetworkUnavailable is True',
      {
        conditions: [
          { type: 'KernelDeadlock', status: 'False' },
          { type: 'NetworkUnavailable', status: 'True' },
        ],
      },
    ],
    [gone, {}, []],
    [gone, {}, [{ node: 'node-2' }]],
    [gone, {}, [{ name: 'node-1', node: null }]],
    [undefined, {}, [{ phase: 'CrashLoopBackOff' }]],
    [undefined, {}, [{ phase: null }]],
    ['its Machine has failed', {}, [{ phase: 'Failed' }]],
    ['its Machine is being deleted', {}, [{ phase: 'Terminating' }]],
    [undefined, {}, [{ phase: 'Failed' }, {}, { phase: 'Terminating' }]],
    [undefined, {}, [{ phase: 'Terminating' }, {}, { phase: 'Failed' }]],
    [updated, inPlace('ReadyForUpdate')],
    [updated, inPlace('UpdateFailed', 'False')],
    [undefined, inPlace('UpdateSuccessful')],
    [undefined, inPlace()],
    [undefined, inPlace('ReadyForUpdate', 'True', 'Other')],
  ])('is left out because: %s (%j, Machines %j)', (why, options, machines = [{}]) => {
    const { candidates, leftOut } = chooseCandidates([node(options)], machines.map(machine), new Map());
    expect([leftOut.get('node-1'), candidates.has('node-1')]).toEqual([why, why === undefined]);
  });

  it('is matched with its Machine by name', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => decodeNode(buildNode({ name }), name));
    const machines = ['d', 'b', 'x'].map((name) => decodeMachine(buildMachine({ name }), name));
    expect([...chooseCandidates(nodes, machines, new Map()).candidates]).toEqual(['b', 'd']);
  });
});

describe("the unhealthy conditions of a node's pool", () => {
  const pools: PoolConditions = new Map([['own', ['Rusty', 'DiskPressure']]]);

  it.each<[pool: string | null, type: string, status: 'True' | 'False' | 'Unknown', counts: boolean]>([
    [null, 'DiskPressure', 'True', false],
    ['plain', 'DiskPressure', 'True', false],
    ['plain', 'DiskPressure', 'Unknown', true],
    ['plain', 'MemoryPressure', 'True', true],
    ['own', 'Rusty', 'True', false],
    ['own', 'Rusty', 'False', true],
    ['own', 'KernelDeadlock', 'True', true],
    ['constructor', 'DiskPressure', 'True', false],
  ])('pool %s: %s %s: counts %s', (pool, type, status, counts) => {
    const { candidates } = chooseCandidates([node({ pool, conditions: [{ type, status }] })], [machine()], pools);
    expect(candidates.has('node-1')).toBe(counts);
  });

  it('are the four of the specification by default', () => {
    const four = ['DiskPressure', 'KernelDeadlock', 'NetworkUnavailable', 'ReadonlyFilesystem'];
    expect([...defaultNodeConditions].sort()).toEqual(four);
  });
});

const leaving = 'being deleted, about to be, or off by plan';
const ignored = (value: string) => ({
  metadata: { annotations: { 'dependency-watchdog.gardener.cloud/ignore-node': value } },
});

it.each<[why: string | undefined, object: { readonly metadata?: object; readonly [part: string]: unknown }]>([
  [undefined, {}],
  [leaving, { metadata: { deletionTimestamp: '2026-11-23T06:00:00Z' } }],
  [leaving, { spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler' }] } }],
  [leaving, { spec: { taints: [{ key: 'node.kubernetes.io/out-of-service' }] } }],
  [leaving, ignored('true')],
  [undefined, ignored('false')],
  [undefined, { spec: { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable' }] } }],
  ['its condition DiskPressure is True', { status: { conditions: [{ type: 'DiskPressure', status: 'True' }] } }],
])('a node of a cluster without Machines is left out because: %s (%j)', (why, { metadata, ...parts }) => {
  const read = decodeNode({ ...parts, metadata: { ...metadata, name: 'a' } }, 'node');
  const { candidates, leftOut } = choosePlainNodes([read], [], new Map());
  expect([leftOut.get('a'), candidates.has('a')]).toEqual([why, why === undefined]);
});
