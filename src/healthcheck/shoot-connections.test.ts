import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { ShootConnections } from './shoot-connections.ts';

const { signal } = new AbortController();

const createRig = () => {
  const clock = createVirtualClock();
  const kubeconfigs = new Map([
    ['a', 'kubeconfig of a'],
    ['b', 'kubeconfig of b'],
  ]);
  const opened: string[] = [];
  const closed: string[] = [];
  const connections = new ShootConnections({
    clock,
    idleMs: 60_000,
    readKubeconfig: async (namespace) => kubeconfigs.get(namespace) ?? Promise.reject(new Error('no Secret')),
    connector: {
      clientFor: (kubeconfig) => {
        opened.push(kubeconfig);
        const client: KubeClient = { call: () => Promise.reject(new Error('not in this test')) };
        return { client, close: () => void closed.push(kubeconfig) };
      },
    },
  });
  return { clock, kubeconfigs, opened, closed, connections };
};

describe('the connections to shoots', () => {
  it('are shared by concurrent and by successive users of a shoot', async () => {
    const { clock, opened, closed, connections } = createRig();
    const [first, second, other] = await Promise.all(['a', 'a', 'b'].map((one) => connections.connect(one, signal)));
    expect(first?.client).toBe(second?.client);
    for (const one of [first, second, other]) one?.close();
    await clock.advance(59_000);
    const later = await connections.connect('a', signal);
    expect(later.client).toBe(first?.client);
    expect([opened, closed]).toEqual([['kubeconfig of a', 'kubeconfig of b'], []]);
  });

  it('are closed after the idle time without users, and not before', async () => {
    const { clock, closed, connections } = createRig();
    const first = await connections.connect('a', signal);
    await clock.advance(600_000);
    expect(closed).toEqual([]);
    first.close();
    await clock.advance(59_999);
    expect(closed).toEqual([]);
    await clock.advance(1);
    expect(closed).toEqual(['kubeconfig of a']);
    expect(clock.pending).toBe(0);
  });

  it('count a user once that closes twice', async () => {
    const { clock, closed, connections } = createRig();
    const [first, second] = [await connections.connect('a', signal), await connections.connect('a', signal)];
    first.close();
    first.close();
    await clock.advance(60_000);
    expect(closed).toEqual([]);
    second.close();
    await clock.advance(60_000);
    expect(closed).toEqual(['kubeconfig of a']);
  });

  it('are replaced when the credentials change, and the old one closes with its last user', async () => {
    const { kubeconfigs, opened, closed, connections, clock } = createRig();
    const old = await connections.connect('a', signal);
    kubeconfigs.set('a', 'rotated');
    const fresh = await connections.connect('a', signal);
    expect(fresh.client).not.toBe(old.client);
    expect([opened, closed]).toEqual([['kubeconfig of a', 'rotated'], []]);
    old.close();
    expect(closed).toEqual(['kubeconfig of a']);
    fresh.close();
    kubeconfigs.set('a', 'rotated again');
    (await connections.connect('a', signal)).close();
    expect(closed).toEqual(['kubeconfig of a', 'rotated']);
    await clock.advance(60_000);
    expect([closed, clock.pending]).toEqual([['kubeconfig of a', 'rotated', 'rotated again'], 0]);
  });

  it('are not opened without credentials', async () => {
    const { opened, connections } = createRig();
    await expect(connections.connect('c', signal)).rejects.toThrow('no Secret');
    expect(opened).toEqual([]);
  });

  it('all end with close, and later connections are not kept', async () => {
    const { clock, closed, connections } = createRig();
    (await connections.connect('a', signal)).close();
    await connections.connect('b', signal);
    connections.close();
    expect(closed.toSorted()).toEqual(['kubeconfig of a', 'kubeconfig of b']);
    (await connections.connect('a', signal)).close();
    expect([closed.length, clock.pending]).toEqual([3, 0]);
  });
});
