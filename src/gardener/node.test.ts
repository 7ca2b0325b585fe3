import { describe, expect, it } from 'vitest';
import { decodeEtcdHealth, etcdProblem } from './etcd.ts';
import { decodeMachineDeploymentHealth, machineDeploymentProblem } from './machine-deployment.ts';
import { decodeNodeHealth } from './node.ts';

const condition = (type: string, status: string, message = 'Said so.') => ({
  type,
  status,
  reason: `${type}Reason`,
  message,
});
const wrong = (type: string, actual: string, expected: string) =>
  `condition "${type}" has invalid status ${actual} (expected ${expected}) due to ${type}Reason: Said so.`;

describe('a node', () => {
  const ready = condition('Ready', 'True');
  const nodeWith = (conditions: readonly object[]) =>
    decodeNodeHealth({ metadata: { name: 'node-1' }, status: { conditions } }, 'node');
  const pressures = ['DiskPressure', 'MemoryPressure', 'NetworkUnavailable', 'PIDPressure'];

  const rows: readonly (readonly [what: string, conditions: readonly object[], problem: string | undefined])[] = [
    ['ready', [ready], undefined],
    ['ready without pressure', [ready, ...pressures.map((type) => condition(type, 'False'))], undefined],
    ['not ready', [condition('Ready', 'False')], wrong('Ready', 'False', 'True')],
    ['without conditions', [], 'condition "Ready" is missing'],
    ...pressures.map(
      (type) => [`under ${type}`, [ready, condition(type, 'True')], wrong(type, 'True', 'False')] as const,
    ),

    [
      'wrong in several ways',
      [condition('PIDPressure', 'True'), condition('MemoryPressure', 'True'), ready],
      wrong('MemoryPressure', 'True', 'False'),
    ],
  ];

  it.each(rows)('%s', (_, conditions, problem) => {
    expect(nodeWith(conditions).problem).toBe(problem);
  });

  it('keeps only the beginning of a long message', () => {
    const long = { ...condition('Ready', 'False'), message: 'x'.repeat(300) };
    expect(nodeWith([long]).problem).toMatch(/ due to ReadyReason: x{253}\.\.\.$/);
  });

  it('that is not ready twice has the first problem', () => {
    const twice = nodeWith([condition('Ready', 'False'), ready]);
    expect(twice).toMatchObject({ problem: wrong('Ready', 'False', 'True'), ready: false });
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

describe('a MachineDeployment', () => {
  const available = condition('Available', 'True');
  const said = (type: string) => `Said so (${type}Reason)`;
  const deploymentWith = (status: object) =>
    decodeMachineDeploymentHealth({ metadata: { name: 'pool', generation: 2 }, status }, 'machinedeployment');

  it.each([
    ['available', [available], undefined],
    ['unavailable', [condition('Available', 'False')], said('Available')],
    ['stuck', [available, condition('Progressing', 'False')], said('Progressing')],
    ['failing', [available, condition('ReplicaFailure', 'True')], said('ReplicaFailure')],
    ['frozen', [available, condition('Frozen', 'True')], said('Frozen')],
  ])('%s', (_, conditions, problem) => {
    expect(machineDeploymentProblem(deploymentWith({ observedGeneration: 2, conditions }))).toBe(problem);
  });

  it.each([
    ['...', ' (FrozenReason)'],
    ['.a.b..', 'a.b (FrozenReason)'],
  ])('is described by %j without the dots at its ends', (message, problem) => {
    const conditions = [available, condition('Frozen', 'True', message)];
    expect(machineDeploymentProblem(deploymentWith({ observedGeneration: 2, conditions }))).toBe(problem);
  });

  it('is outdated before anything else', () => {
    expect(machineDeploymentProblem(deploymentWith({ observedGeneration: 1 }))).toBe(
      'observed generation outdated (1/2)',
    );
  });
});

describe('an Etcd', () => {
  const unready = 'etcd "etcd-main" is not ready yet';
  const error = (description: string) => ({ code: 'ERR_X', description, observedAt: '2026-01-01T00:00:00Z' });
  const lastErrors = [error('no quorum'), error('disk full')];
  const backup = 'backup for etcd "etcd-main" is reported as unready: Said so.';
  it.each([
    ['unready', { ready: false }, unready],
    ['ready with backups', { ready: true, conditions: [condition('BackupReady', 'True')] }, undefined],
    ['ready without backups', { ready: true, conditions: [condition('BackupReady', 'False')] }, backup],
    ['ready, and BackupReady unknown', { ready: true, conditions: [condition('BackupReady', 'Unknown')] }, backup],
    ['wrong in both ways', { ready: false, conditions: [condition('BackupReady', 'False')] }, unready],
    ['unready with errors', { ready: false, lastErrors }, `${unready}: no quorum, disk full`],
    ['ready with errors of the past', { ready: true, lastErrors }, undefined],
  ])('%s', (_, status, problem) => {
    const object = { metadata: { name: 'etcd-main', generation: 2 }, status };
    expect(etcdProblem(decodeEtcdHealth(object, 'etcd'))).toBe(problem);
  });
});
