import { describe, expect, it } from 'vitest';
import { decodeEtcdHealth } from './etcd.ts';
import type { ObjectHealth } from './health.ts';
import { decodeMachineDeploymentHealth } from './machine-deployment.ts';
import { decodeManagedResourceHealth } from './managed-resource.ts';
import { decodeNodeHealth } from './node.ts';
import { decodeDaemonSetHealth, decodeDeploymentHealth, decodeStatefulSetHealth } from './workloads.ts';

type Decode = (json: unknown, path: string) => Pick<ObjectHealth, 'problem'>;

const metadata = { name: 'etcd-main', namespace: 'shoot--dev--one', generation: 2 };
const problemOf = (decode: Decode, status: object, spec: object = {}): string | undefined =>
  decode({ metadata, spec, status: { observedGeneration: 2, ...status } }, 'object').problem;

const condition = (type: string, status: string, message = 'Said so.') => ({
  type,
  status,
  reason: `${type}Reason`,
  message,
});
const wrong = (type: string, actual: string, expected: string) =>
  `condition "${type}" has invalid status ${actual} (expected ${expected}) due to ${type}Reason: Said so.`;
const said = (type: string) => `Said so (${type}Reason)`;

type Rule = readonly [type: string, expected: 'True' | 'False'];

describe('the conditions', () => {
  it.each<[kind: string, Decode, describe: typeof wrong, needed: string, ...others: Rule[]]>([
    ['Deployment', decodeDeploymentHealth, wrong, 'Available', ['Progressing', 'True'], ['ReplicaFailure', 'False']],
    [
      ...(['Node', decodeNodeHealth, wrong, 'Ready'] as const),
      ...['DiskPressure', 'MemoryPressure', 'NetworkUnavailable', 'PIDPressure'].map((type): Rule => [type, 'False']),
    ],
    [
      ...(['MachineDeployment', decodeMachineDeploymentHealth, said, 'Available'] as const),
      ...([
        ['Progressing', 'True'],
        ['ReplicaFailure', 'False'],
        ['Frozen', 'False'],
      ] satisfies readonly Rule[]),
    ],
  ])(
    'of a %s are checked in their order; all but the first may be missing',
    (_kind, decode, text, needed, ...others) => {
      const find = (...conditions: readonly object[]) => problemOf(decode, { conditions });
      const fine = condition(needed, 'True');
      expect(find()).toBe(`condition "${needed}" is missing`);
      expect([find(fine), find(fine, ...others.map((rule) => condition(...rule)))]).toEqual([undefined, undefined]);
      const rules: readonly Rule[] = [[needed, 'True'], ...others];
      for (const [index, [type, expected]] of rules.entries()) {
        const worse = rules.slice(index).map(([one]) => condition(one, 'Unknown'));
        expect(find(...worse.toReversed(), ...(index === 0 ? [] : [fine]))).toBe(text(type, 'Unknown', expected));
      }
    },
  );

  it.each([
    ['Deployment', decodeDeploymentHealth],
    ['StatefulSet', decodeStatefulSetHealth],
    ['DaemonSet', decodeDaemonSetHealth],
    ['MachineDeployment', decodeMachineDeploymentHealth],
  ])('and counts of a %s do not matter while its generation is outdated', (_kind, decode) => {
    const status = { observedGeneration: 1, desiredNumberScheduled: 1 };
    expect(problemOf(decode, status)).toBe('observed generation outdated (1/2)');
    expect(problemOf(decode, { ...status, observedGeneration: 3 })).not.toMatch(/outdated/);
  });

  it.each([
    ['...', ' (FrozenReason)'],
    ['.a.b..', 'a.b (FrozenReason)'],
  ])('of a MachineDeployment are described by %j without the dots at its ends', (message, problem) => {
    const conditions = [condition('Available', 'True'), condition('Frozen', 'True', message)];
    expect(problemOf(decodeMachineDeploymentHealth, { conditions })).toBe(problem);
  });
});

it('a Deployment without replicas is healthy', () => {
  const status = { conditions: [condition('Available', 'True')], replicas: 3, unavailableReplicas: 3 };
  expect(problemOf(decodeDeploymentHealth, status, { replicas: 0 })).toBeUndefined();
});

describe('a node', () => {
  it('keeps only the beginning of a long message', () => {
    const conditions = [condition('Ready', 'False', 'x'.repeat(300))];
    expect(problemOf(decodeNodeHealth, { conditions })).toMatch(/ due to ReadyReason: x{253}\.\.\.$/);
  });

  it('that is Ready twice is what it says first', () => {
    const conditions = [condition('Ready', 'False'), condition('Ready', 'True')];
    const node = decodeNodeHealth({ metadata, status: { conditions } }, 'node');
    expect(node).toMatchObject({ problem: wrong('Ready', 'False', 'True'), ready: false });
  });

  it.each([
    ['1', false],
    ['true', true],
  ])('with the annotation not-managed-by-mcm %j is managed: %s', (value, managedByMcm) => {
    const annotations = { 'node.machine.sapcloud.io/not-managed-by-mcm': value };
    const node = decodeNodeHealth({ metadata: { name: 'node-1', annotations } }, 'node');
    expect(node).toMatchObject({ managedByMcm, unschedulable: false, kubeletVersion: '' });
  });
});

it.each([
  ['available', [condition('Available', 'True')], { unavailable: false, rollingOut: false }],
  ['unavailable', [condition('Available', 'Unknown')], { unavailable: true, rollingOut: false }],
  ['rolling out', [condition('Progressing', 'True')], { unavailable: false, rollingOut: true }],
  [
    'rolled out',
    [{ ...condition('Progressing', 'True'), reason: 'NewMachineSetAvailable' }],
    { unavailable: false, rollingOut: false },
  ],
  ['stuck', [condition('Progressing', 'False')], { unavailable: false, rollingOut: false }],
])('a MachineDeployment is %s', (_state, conditions, state) => {
  expect(decodeMachineDeploymentHealth({ metadata, status: { conditions } }, 'machinedeployment')).toMatchObject(state);
});

describe('an Etcd', () => {
  const unready = 'etcd "etcd-main" is not ready yet';
  const error = (description: string) => ({ code: 'ERR_X', description, observedAt: '2026-01-01T00:00:00Z' });
  const lastErrors = [error('no quorum'), error('disk full')];
  const backup = 'backup for etcd "etcd-main" is reported as unready: Said so.';
  it.each([
    ['unready', { ready: false }, unready],
    ['ready with backups', { ready: true, conditions: [condition('BackupReady', 'True')] }, undefined],
    ['ready, and BackupReady unknown', { ready: true, conditions: [condition('BackupReady', 'Unknown')] }, backup],
    ['wrong in both ways', { ready: false, conditions: [condition('BackupReady', 'False')] }, unready],
    ['unready with errors', { ready: false, lastErrors }, `${unready}: no quorum, disk full`],
    ['ready with errors of the past', { ready: true, lastErrors }, undefined],
  ])('%s', (_, status, problem) => {
    expect(problemOf(decodeEtcdHealth, status)).toBe(problem);
  });
});

it.each([
  ['all ready', 2, 2, undefined],
  ['too few', 3, 2, 'not enough ready replicas (2/3)'],
  ['none', undefined, undefined, 'not enough ready replicas (0/1)'],
])('the counts of a StatefulSet: %s', (_, replicas, readyReplicas, problem) => {
  expect(problemOf(decodeStatefulSetHealth, { readyReplicas }, { replicas })).toBe(problem);
});

describe('the counts of a DaemonSet', () => {
  const ten = { desiredNumberScheduled: 10, currentNumberScheduled: 10, updatedNumberScheduled: 10 };
  const find = (status: object, updateStrategy: unknown = rolling(5)) =>
    problemOf(decodeDaemonSetHealth, { ...ten, ...status }, { updateStrategy });
  const rolling = (maxUnavailable?: unknown) => ({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable } });

  it.each([
    ['all scheduled and available', {}, undefined],
    ['too few scheduled', { currentNumberScheduled: 9, numberMisscheduled: 1 }, 'not enough scheduled pods (9/10)'],
    ['misscheduled', { numberMisscheduled: 1, numberUnavailable: 1 }, 'misscheduled pods found (1)'],
    ['with a pod down after a roll-out', { numberUnavailable: 1 }, 'too many unavailable pods found (1/10)'],
  ])('%s', (_, status, problem) => {
    expect(find(status)).toBe(problem);
  });

  it.each<[strategy: unknown, allowed: number]>([
    [rolling(1), 1],
    [rolling('25%'), 2],
    [rolling('1.5%'), 0],
    [rolling(null), 0],
    [{ type: 'RollingUpdate' }, 0],
    [{ type: 'OnDelete', rollingUpdate: { maxUnavailable: 5 } }, 0],
    [{ rollingUpdate: { maxUnavailable: 5 } }, 0],
  ])('during a roll-out with the strategy %j: %d may be unavailable', (strategy, allowed) => {
    const status = (numberUnavailable: number) => ({ updatedNumberScheduled: 9, numberUnavailable });
    expect(find(status(allowed), strategy)).toBeUndefined();
    expect(find(status(allowed + 1), strategy)).toBe(
      `too many unavailable pods found (${allowed + 1}/10, only max. ${allowed} unavailable pods allowed)`,
    );
  });
});

const which = 'managed resource shoot--dev--one/etcd-main';
const [applied, healthy] = [condition('ResourcesApplied', 'True'), condition('ResourcesHealthy', 'True')];

it.each([
  ['rolling out', { conditions: [applied, healthy, condition('ResourcesProgressing', 'True')] }, undefined],
  ['outdated', { observedGeneration: 1 }, `observed generation of ${which} outdated (1/2)`],
  ['ahead', { observedGeneration: 3 }, `observed generation of ${which} outdated (3/2)`],
  ['new', {}, `condition ResourcesApplied for ${which} has not been reported yet`],
  ['not yet healthy', { conditions: [applied] }, `condition ResourcesHealthy for ${which} has not been reported yet`],
  [
    'unhealthy',
    { conditions: [applied, condition('ResourcesHealthy', 'False')] },
    `condition ResourcesHealthy of ${which} is False: Said so.`,
  ],
])('a ManagedResource of a health check: %s', (_, status, problem) => {
  expect(problemOf(decodeManagedResourceHealth, status)).toBe(problem);
});
