import { describe, expect, it } from 'vitest';
import { buildMachine, buildNode } from '../../test/doubles/builders.ts';
import { type PoolConditions, defaultNodeConditions, chooseCandidates, choosePlainNodes } from './candidate-nodes.ts';
import { decodeMachine } from './machine.ts';
import { type NodeView, decodeNode } from './node.ts';

const notManaged = 'node.machine.sapcloud.io/not-managed-by-mcm';
const node = (options: Partial<Parameters<typeof buildNode>[0]> = {}) =>
  decodeNode(buildNode({ name: 'node-1', ...options }), 'node');
const machine = (options: Partial<Parameters<typeof buildMachine>[0]> = {}) =>
  decodeMachine(buildMachine({ name: 'machine-1', node: 'node-1', ...options }), 'machine');

const isCandidate = (
  candidate: ReturnType<typeof node>,
  {
    machines = [machine()],
    pools = new Map(),
  }: { machines?: ReturnType<typeof machine>[]; pools?: PoolConditions } = {},
): boolean => chooseCandidates([candidate], machines, pools).candidates.has('node-1');

describe('a node is a candidate', () => {
  it('when it is managed, healthy and has a running machine', () => {
    expect(isCandidate(node({ annotations: { 'node.machine.sapcloud.io/last-applied': 'x' } }))).toBe(true);
  });

  it('except when it has the annotation not-managed-by-mcm, with any value', () => {
    for (const value of ['', 'false']) expect(isCandidate(node({ annotations: { [notManaged]: value } }))).toBe(false);
  });
});

describe("conditions of a node's pool", () => {
  const pools: PoolConditions = new Map([
    ['own', ['Rusty', 'DiskPressure']],
    ['other', ['KernelDeadlock']],
  ]);

  interface Row {
    readonly pool: string | null;
    readonly type: string;
    readonly status: 'True' | 'False' | 'Unknown';
    readonly counts: boolean;
  }
  const rows: readonly Row[] = [
    ...defaultNodeConditions.map((type): Row => ({ pool: 'plain', type, status: 'True', counts: false })),
    ...defaultNodeConditions.map((type): Row => ({ pool: null, type, status: 'True', counts: false })),
    { pool: 'plain', type: 'DiskPressure', status: 'False', counts: true },
    { pool: 'plain', type: 'DiskPressure', status: 'Unknown', counts: true },
    { pool: 'plain', type: 'MemoryPressure', status: 'True', counts: true },
    { pool: 'plain', type: 'Rusty', status: 'True', counts: true },
    { pool: 'plain', type: 'Ready', status: 'Unknown', counts: true },
    { pool: 'own', type: 'Rusty', status: 'True', counts: false },
    { pool: 'own', type: 'DiskPressure', status: 'True', counts: false },
    { pool: 'own', type: 'KernelDeadlock', status: 'True', counts: true },
    { pool: 'own', type: 'Rusty', status: 'False', counts: true },
    { pool: 'other', type: 'DiskPressure', status: 'True', counts: true },
    { pool: 'constructor', type: 'DiskPressure', status: 'True', counts: false },
  ];

  it.each(rows)('pool $pool: $type $status: counts $counts', ({ pool, type, status, counts }) => {
    expect(isCandidate(node({ pool, conditions: [{ type, status }] }), { pools })).toBe(counts);
  });

  it('are the four of the specification by default', () => {
    const four = ['DiskPressure', 'KernelDeadlock', 'NetworkUnavailable', 'ReadonlyFilesystem'];
    expect([...defaultNodeConditions].sort()).toEqual(four);
  });

  it('rule a node out when any one of them is True', () => {
    const conditions = [
      { type: 'KernelDeadlock', status: 'False' },
      { type: 'NetworkUnavailable', status: 'True' },
    ] as const;
    expect(isCandidate(node({ conditions }))).toBe(false);
  });
});

describe('Machines', () => {
  it.each([
    { phase: 'Running', counts: true },
    { phase: 'CrashLoopBackOff', counts: true },
    { phase: null, counts: true },
    { phase: 'Failed', counts: false },
    { phase: 'Terminating', counts: false },
  ])('in phase $phase: counts $counts', ({ phase, counts }) => {
    expect(isCandidate(node(), { machines: [machine({ phase })] })).toBe(counts);
  });

  it('are needed', () => {
    expect(isCandidate(node(), { machines: [] })).toBe(false);
    expect(isCandidate(node(), { machines: [machine({ node: 'node-2' })] })).toBe(false);
    expect(isCandidate(node(), { machines: [machine({ name: 'node-1', node: null })] })).toBe(false);
  });
});

describe('in-place updates', () => {
  it.each([
    { type: 'InPlaceUpdate', reason: 'ReadyForUpdate', status: 'True', counts: false },
    { type: 'InPlaceUpdate', reason: 'UpdateFailed', status: 'True', counts: false },
    { type: 'InPlaceUpdate', reason: 'UpdateFailed', status: 'False', counts: false },
    { type: 'InPlaceUpdate', reason: 'ReadyForUpdate', status: 'Unknown', counts: false },
    { type: 'InPlaceUpdate', reason: 'SelectedForUpdate', status: 'True', counts: true },
    { type: 'InPlaceUpdate', reason: 'UpdateSuccessful', status: 'True', counts: true },
    { type: 'InPlaceUpdate', status: 'True', counts: true },
    { type: 'Other', reason: 'ReadyForUpdate', status: 'True', counts: true },
  ] as const)('$type $status $reason: counts $counts', ({ counts, ...condition }) => {
    expect(isCandidate(node({ conditions: [condition] }))).toBe(counts);
  });
});

describe('chooseCandidates', () => {
  it('matches nodes and Machines by name', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => decodeNode(buildNode({ name }), name));
    const machines = ['d', 'b', 'x'].map((name) => decodeMachine(buildMachine({ name }), name));
    expect([...chooseCandidates(nodes, machines, new Map()).candidates]).toEqual(['b', 'd']);
  });

  it('matches a node with one live Machine among others, in any order', () => {
    const machines = [{ ...machine(), phase: 'Failed' }, machine(), { ...machine(), phase: 'Terminating' }];
    for (const all of [machines, machines.toReversed()]) {
      expect(chooseCandidates([node()], all, new Map()).leftOut.size).toBe(0);
    }
  });

  it.each<[why: string, options: Partial<Parameters<typeof buildNode>[0]>, machines: ReturnType<typeof machine>[]]>([
    ['not managed by MCM', { annotations: { [notManaged]: '' } }, [machine()]],
    ['its condition DiskPressure is True', { conditions: [{ type: 'DiskPressure', status: 'True' }] }, [machine()]],
    ['its Machine is gone, or it never had one', {}, []],
    ['its Machine has failed', {}, [{ ...machine(), phase: 'Failed' }]],
    ['its Machine is being deleted', {}, [{ ...machine(), phase: 'Terminating' }]],
    [
      'in an in-place update',
      { conditions: [{ type: 'InPlaceUpdate', status: 'True', reason: 'UpdateFailed' }] },
      [machine()],
    ],
  ])('reports why a node is left out: %s', (why, options, machines) => {
    expect([...chooseCandidates([node(options)], machines, new Map()).leftOut]).toEqual([['node-1', why]]);
  });
});

describe('choosePlainNodes', () => {
  const plain = (options: Partial<NodeView>): NodeView => ({
    ...decodeNode(buildNode({ name: 'a' }), 'node'),
    ...options,
  });

  it('selects a node without a Machine', () => {
    expect([...choosePlainNodes([plain({})], [], new Map()).candidates]).toEqual(['a']);
  });

  it.each<[why: string, options: Partial<NodeView>]>([
    ['being deleted, about to be, or off by plan', { leaving: true }],
    ...defaultNodeConditions.map((type): [string, Partial<NodeView>] => [
      `its condition ${type} is True`,
      { trueConditions: new Set([type]) },
    ]),
  ])('leaves a node out: %s', (why, options) => {
    expect([...choosePlainNodes([plain(options)], [], new Map()).leftOut]).toEqual([['a', why]]);
  });

  it.each([
    [{ metadata: { name: 'a', deletionTimestamp: '2026-11-23T06:00:00Z' } }, true],
    [{ metadata: { name: 'a' }, spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler' }] } }, true],
    [{ metadata: { name: 'a' }, spec: { taints: [{ key: 'node.kubernetes.io/out-of-service' }] } }, true],
    [{ metadata: { name: 'a', annotations: { 'dependency-watchdog.gardener.cloud/ignore-node': 'true' } } }, true],
    [{ metadata: { name: 'a', annotations: { 'dependency-watchdog.gardener.cloud/ignore-node': 'false' } } }, false],
    [
      { metadata: { name: 'a' }, spec: { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable' }] } },
      false,
    ],
    [{ metadata: { name: 'a' } }, false],
  ])('reads %j: leaving %s', (json, leaving) => {
    expect(decodeNode(json, 'node').leaving).toBe(leaving);
  });
});

describe('decoding', () => {
  it('reads nodes and Machines with hardly any fields', () => {
    expect(decodeNode({ metadata: { name: 'a' } }, 'node')).toEqual({
      name: 'a',
      managedByMcm: true,
      trueConditions: new Set(),
      inPlaceUpdate: false,
      leaving: false,
    });
    expect(decodeMachine({ metadata: { name: 'a', labels: null }, status: null }, 'machine')).toEqual({
      node: '',
      phase: '',
      deleting: false,
    });
    expect(decodeMachine({ metadata: { name: 'a' }, status: { currentStatus: {} } }, 'machine')).toEqual({
      node: '',
      phase: '',
      deleting: false,
    });
  });
});
