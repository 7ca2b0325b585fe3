import { describe, expect, it } from 'vitest';
import {
  daemonSetProblem,
  decodeDaemonSetHealth,
  decodeDeploymentHealth,
  decodeStatefulSetHealth,
  deploymentProblem,
  statefulSetProblem,
} from './workloads.ts';

const metadata = { name: 'kube-apiserver', namespace: 'shoot--dev--one', generation: 2 };
const condition = (type: string, status: string) => ({ type, status, reason: `${type}Reason`, message: 'Said so.' });

describe('a Deployment', () => {
  const available = condition('Available', 'True');
  const problemOf = (status: object, spec: object = { replicas: 1 }) =>
    deploymentProblem(decodeDeploymentHealth({ metadata, spec, status }, 'deployment'));
  const wrong = (type: string, actual: string, expected: string) =>
    `condition "${type}" has invalid status ${actual} (expected ${expected}) due to ${type}Reason: Said so.`;

  it.each([
    ['available', [available], undefined],
    ['without conditions', [], 'condition "Available" is missing'],
    ['unavailable', [condition('Available', 'False')], wrong('Available', 'False', 'True')],
    ['not progressing', [available, condition('Progressing', 'False')], wrong('Progressing', 'False', 'True')],
    ['with a failure', [available, condition('ReplicaFailure', 'True')], wrong('ReplicaFailure', 'True', 'False')],
    [
      'wrong in several ways',
      [condition('ReplicaFailure', 'True'), condition('Progressing', 'False'), condition('Available', 'False')],
      wrong('Available', 'False', 'True'),
    ],
  ])('%s', (_, conditions, problem) => {
    expect(problemOf({ observedGeneration: 2, conditions })).toBe(problem);
  });

  it('is outdated before anything else', () => {
    expect(problemOf({ observedGeneration: 1 })).toBe('observed generation outdated (1/2)');
    expect(problemOf({ observedGeneration: 3, conditions: [available] })).toBeUndefined();
  });

  it('at 0 replicas is healthy', () => {
    const status = { observedGeneration: 2, conditions: [available] };
    expect(problemOf(status, { replicas: 0 })).toBeUndefined();
    expect(problemOf({ ...status, replicas: 3, unavailableReplicas: 3 }, { replicas: 3 })).toBeUndefined();
  });
});

describe('a StatefulSet', () => {
  it.each([
    ['all ready', 2, 2, undefined],
    ['too few', 3, 2, 'not enough ready replicas (2/3)'],
    ['none', 1, undefined, 'not enough ready replicas (0/1)'],
  ])('%s', (_, replicas, readyReplicas, problem) => {
    const object = { metadata, spec: { replicas }, status: { observedGeneration: 2, readyReplicas } };
    expect(statefulSetProblem(decodeStatefulSetHealth(object, 'statefulset'))).toBe(problem);
  });

  it('is outdated before anything else', () => {
    const object = { metadata, spec: { replicas: 1 }, status: { observedGeneration: 1 } };
    expect(statefulSetProblem(decodeStatefulSetHealth(object, 'statefulset'))).toBe(
      'observed generation outdated (1/2)',
    );
  });
});

describe('a DaemonSet', () => {
  const healthy = {
    observedGeneration: 2,
    desiredNumberScheduled: 10,
    currentNumberScheduled: 10,
    updatedNumberScheduled: 10,
  };
  const problemOf = (status: object, updateStrategy: unknown = { type: 'RollingUpdate' }) =>
    daemonSetProblem(
      decodeDaemonSetHealth({ metadata, spec: { updateStrategy }, status: { ...healthy, ...status } }, 'daemonset'),
    );

  it.each([
    ['all scheduled and available', {}, undefined],
    ['outdated', { observedGeneration: 1, currentNumberScheduled: 0 }, 'observed generation outdated (1/2)'],
    ['too few scheduled', { currentNumberScheduled: 9, numberMisscheduled: 1 }, 'not enough scheduled pods (9/10)'],
    ['misscheduled', { numberMisscheduled: 1, numberUnavailable: 1 }, 'misscheduled pods found (1)'],
    ['with a pod down', { numberUnavailable: 1 }, 'too many unavailable pods found (1/10)'],
  ])('%s', (_, status, problem) => {
    expect(problemOf(status)).toBe(problem);
  });

  describe('during a roll-out', () => {
    const rolling = (maxUnavailable?: unknown) => ({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable } });
    const rows: readonly (readonly [strategy: unknown, allowed: number])[] = [
      [rolling(1), 1],
      [rolling(0), 0],
      [rolling('25%'), 2],
      [rolling('30%'), 3],
      [rolling('1.5%'), 0],
      [rolling(null), 0],
      [{ type: 'RollingUpdate' }, 0],
      [{ type: 'OnDelete', rollingUpdate: { maxUnavailable: 5 } }, 0],
      [{ rollingUpdate: { maxUnavailable: 5 } }, 0],
    ];

    it.each(rows)('with the strategy %j %d may be unavailable', (strategy, allowed) => {
      const status = (numberUnavailable: number) => ({ updatedNumberScheduled: 9, numberUnavailable });
      expect(problemOf(status(allowed), strategy)).toBeUndefined();
      expect(problemOf(status(allowed + 1), strategy)).toBe(
        `too many unavailable pods found (${allowed + 1}/10, only max. ${allowed} unavailable pods allowed)`,
      );
    });

    it('is over when all pods are updated: then none may be unavailable', () => {
      expect(problemOf({ numberUnavailable: 1 }, rolling(5))).toBe('too many unavailable pods found (1/10)');
    });
  });
});
