import { describe, expect, it } from 'vitest';
import { buildMachine, buildNode } from '../../test/doubles/builders.ts';
import { type PoolConditions, candidateNodes, defaultNodeConditions } from './candidate-nodes.ts';
import { decodeMachine } from './machine.ts';
import { decodeNode } from './node.ts';

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
): boolean => candidateNodes([candidate], machines, pools).has('node-1');

describe('a node counts', () => {
  it('when it is managed, healthy and has a running machine', () => {
    expect(isCandidate(node())).toBe(true);
  });

  it.each(['', 'true', 'false', '1'])(
    'not when it is marked as not managed by MCM, whatever the value: %j',
    (value) => {
      expect(isCandidate(node({ annotations: { [notManaged]: value } }))).toBe(false);
    },
  );

  it('with annotations of others', () => {
    expect(isCandidate(node({ annotations: { 'node.machine.sapcloud.io/last-applied': 'x' } }))).toBe(true);
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
    expect([...defaultNodeConditions].sort()).toEqual([
      'DiskPressure',
      'KernelDeadlock',
      'NetworkUnavailable',
      'ReadonlyFilesystem',
    ]);
  });

  it('rule a node out when any one of several holds', () => {
    const conditions = [
      { type: 'KernelDeadlock', status: 'False' },
      { type: 'NetworkUnavailable', status: 'True' },
    ] as const;
    expect(isCandidate(node({ conditions }))).toBe(false);
  });
});

describe('machines', () => {
  it.each([
    { phase: 'Running', counts: true },
    { phase: 'Unknown', counts: true },
    { phase: 'Pending', counts: true },
    { phase: 'CrashLoopBackOff', counts: true },
    { phase: 'Available', counts: true },
    { phase: '', counts: true },
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

  it('of one node: a live one is enough, in any order', () => {
    const dead = machine({ phase: 'Terminating' });
    expect(isCandidate(node(), { machines: [dead, machine()] })).toBe(true);
    expect(isCandidate(node(), { machines: [machine(), dead] })).toBe(true);
    expect(isCandidate(node(), { machines: [dead, dead] })).toBe(false);
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

describe('candidateNodes', () => {
  it('picks by name out of many', () => {
    const nodes = ['a', 'b', 'c', 'd'].map((name) => decodeNode(buildNode({ name }), name));
    const machines = ['d', 'b', 'x'].map((name) => decodeMachine(buildMachine({ name }), name));
    expect([...candidateNodes(nodes, machines, new Map())]).toEqual(['b', 'd']);
  });
});

describe('decoding', () => {
  it('reads nodes and machines that have next to nothing', () => {
    expect(decodeNode({ metadata: { name: 'a' } }, 'node')).toEqual({
      name: 'a',
      managedByMcm: true,
      trueConditions: new Set(),
      inPlaceUpdate: false,
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

  it.each([
    [{ metadata: { name: 'a' }, status: { conditions: {} } }, 'node.status.conditions: expected a list'],
    [{ metadata: { name: 'a' }, status: { conditions: [null] } }, 'node.status.conditions[0]: expected an object'],
    [{ metadata: { name: 'a' }, status: { conditions: [{}] } }, 'node.status.conditions[0].type: expected a string'],
    [{ metadata: { name: 'a', labels: { x: 1 } } }, 'node.metadata.labels[x]: expected a string'],
    [{ metadata: { name: 1 } }, 'node.metadata.name: expected a string, found a number'],
    [[], 'node: expected an object, found a list'],
  ])('refuses the node %j', (json, problem) => {
    expect(() => decodeNode(json, 'node')).toThrow(problem);
  });

  it.each([
    [{ metadata: { name: 'a' }, status: { currentStatus: { phase: 1 } } }, 'machine.status.currentStatus.phase'],
    [{ metadata: { name: 'a' }, status: 'Running' }, 'machine.status: expected an object, found a string'],
    [{ metadata: { name: 'a' }, status: { currentStatus: [] } }, 'machine.status.currentStatus: expected an object'],
  ])('refuses the machine %j', (json, problem) => {
    expect(() => decodeMachine(json, 'machine')).toThrow(problem);
  });
});
