import { describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createSimApiServer } from '../../simulator/apiserver/server.ts';
import { withFaults } from '../../simulator/network/faults.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { createKubeClient } from '../kubernetes/client/client.ts';
import { ShootConnections } from './shoot-connections.ts';

const { signal } = new AbortController();
const idleMs = 300_000;

/** A seed with the shoots a and b. */
const createRig = () => {
  const clock = createVirtualClock();
  const api = createSimApiServer({ clock });
  const putSecret = (namespace: string, name: string, kubeconfig: string | undefined): void =>
    void api.store.put(simKinds.Secret, {
      metadata: { namespace, name },
      data: kubeconfig === undefined ? {} : { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
    });
  for (const name of ['a', 'b']) putSecret(name, 'gardener', `kubeconfig of ${name}`);
  let forbidden = 'nothing';
  const forbid = (end: string): void => void (forbidden = end);
  const opened: string[] = [];
  const closed: string[] = [];
  const kube = withFaults(api, {
    clock,
    rule: ({ path }) => (path.endsWith(forbidden) ? { status: 403, message: 'may not' } : undefined),
  });
  const connections = new ShootConnections({
    ...{ clock, seed: createKubeClient({ kube, clock }) },
    connector: {
      clientFor: (kubeconfig) => {
        opened.push(kubeconfig);
        const client: KubeClient = { call: () => Promise.reject(new Error('not in this test')) };
        return { client, close: () => void closed.push(kubeconfig) };
      },
    },
  });
  return { clock, putSecret, forbid, opened, closed, connections };
};

describe('the kubeconfig of a shoot', () => {
  it.each([
    ['the Secret with the address in the seed', 'internal'],
    ['the other Secret, if that one has none', undefined],
  ])('is that of %s', async (_, internal) => {
    const { putSecret, opened, connections } = createRig();
    putSecret('a', 'gardener-internal', internal);
    await connections.connect('a', signal);
    expect(opened).toEqual([internal ?? 'kubeconfig of a']);
  });

  it.each([
    ['does not exist', 'c', 'no Secret gardener-internal or gardener with a key "kubeconfig" in namespace c'],
    ['may not be read, without a try of the next Secret', 'b', '/gardener-internal: 403 Forbidden: may not'],
  ])('that %s is an error, and nothing is opened', async (_, namespace, error) => {
    const { forbid, opened, connections } = createRig();
    forbid('/namespaces/b/secrets/gardener-internal');
    await expect(connections.connect(namespace, signal)).rejects.toThrow(error);
    expect(opened).toEqual([]);
  });
});

describe('the connections to shoots', () => {
  it('are shared by concurrent and by successive users of a shoot', async () => {
    const { clock, opened, closed, connections } = createRig();
    const [first, second, other] = await Promise.all(['a', 'a', 'b'].map((one) => connections.connect(one, signal)));
    for (const one of [first, second, other]) one?.close();
    await clock.advance(idleMs - 1_000);
    await connections.connect('a', signal);
    expect([opened, closed]).toEqual([['kubeconfig of a', 'kubeconfig of b'], []]);
  });

  it('are closed after the idle time without users, and not before', async () => {
    const { clock, closed, connections } = createRig();
    const first = await connections.connect('a', signal);
    await clock.advance(2 * idleMs);
    expect(closed).toEqual([]);
    first.close();
    await clock.advance(idleMs - 1);
    expect(closed).toEqual([]);
    await clock.advance(1);
    expect(closed).toEqual(['kubeconfig of a']);
    expect(clock.pending).toBe(0);
  });

  it('are replaced when the credentials change, and the old one closes with its last user', async () => {
    const { putSecret, opened, closed, connections, clock } = createRig();
    const old = await connections.connect('a', signal);
    putSecret('a', 'gardener', 'rotated');
    const fresh = await connections.connect('a', signal);
    expect([opened, closed]).toEqual([['kubeconfig of a', 'rotated'], []]);
    old.close();
    expect(closed).toEqual(['kubeconfig of a']);
    fresh.close();
    putSecret('a', 'gardener', 'rotated again');
    (await connections.connect('a', signal)).close();
    expect(closed).toEqual(['kubeconfig of a', 'rotated']);
    await clock.advance(idleMs);
    expect([closed, clock.pending]).toEqual([['kubeconfig of a', 'rotated', 'rotated again'], 0]);
  });

  it('all end with close', async () => {
    const { clock, closed, connections } = createRig();
    (await connections.connect('a', signal)).close();
    await connections.connect('b', signal);
    connections.close();
    expect([closed.toSorted(), clock.pending]).toEqual([['kubeconfig of a', 'kubeconfig of b'], 0]);
  });
});
