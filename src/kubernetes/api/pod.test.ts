import { describe, expect, it } from 'vitest';
import { decodePod } from './pod.ts';

const waiting = (name: string, reason = 'CrashLoopBackOff') => ({ name, state: { waiting: { reason } } });
const running = (name: string) => ({ name, state: { running: {} }, lastState: { terminated: { reason: 'Error' } } });

const pod = (status: unknown, metadata: object = {}) => ({
  metadata: { name: 'api-1', namespace: 'ns', uid: 'u1', resourceVersion: '7', ...metadata },
  status,
});

describe('decodePod', () => {
  it.each([
    ['no status', undefined, []],
    ['running', { containerStatuses: [running('main')] }, []],
    ['crash-looping', { containerStatuses: [running('main'), waiting('side')] }, ['side']],
    ['waiting for something else', { containerStatuses: [waiting('main', 'ImagePullBackOff')] }, []],
    ['an ephemeral container', { ephemeralContainerStatuses: [waiting('debug')] }, ['debug']],
    [
      'several',
      { initContainerStatuses: [waiting('a')], containerStatuses: [waiting('b'), waiting('c')] },
      ['a', 'b', 'c'],
    ],
    ['a container without state', { containerStatuses: [{ name: 'main' }] }, []],
  ])('%s', (_, status, expected) => {
    expect(decodePod(pod(status), 'pod').crashLooping).toEqual(expected);
  });

  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'api', uid: 'r1' };

  it.each([
    ['no owner', {}, undefined],
    ['an owner without the field controller', { ownerReferences: [owner] }, undefined],
    ['an owner with controller: false', { ownerReferences: [{ ...owner, controller: false }] }, undefined],
    [
      'the controller among several',
      {
        ownerReferences: [
          { ...owner, uid: 'x' },
          { ...owner, controller: true },
        ],
      },
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', uid: 'r1' },
    ],
  ])('%s', (_, metadata, expected) => {
    expect(decodePod(pod({}, metadata), 'pod').controller).toEqual(expected);
  });
});
