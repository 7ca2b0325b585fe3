import { describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createSimApiServer } from '../../simulator/apiserver/server.ts';
import { withFaults } from '../../simulator/network/faults.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { createKubeClient } from '../kubernetes/client/client.ts';
import { ShootConnections } from './shoot-connections.ts';

const { signal } = new AbortController();

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
    seed: createKubeClient({ kube, clock }),
    connector: {
      clientFor: (kubeconfig) => {
        opened.push(kubeconfig);
        const client: KubeClient = { call: () => Promise.reject(new Error('not in this test')) };
        return { client, close: () => void closed.push(kubeconfig) };
      },
    },
  });
  return { putSecret, forbid, opened, closed, connections };
};

describe('the kubeconfig of a shoot', () => {
  it.each([
    ['the Secret with the address in the seed', 'internal'],
    ['the other Secret, if that one has none', undefined],
  ])('is that of %s', async (_, internal) => {
    const { putSecret, opened, connections } = createRig();
    putSecret('a', 'gardener-internal', internal);
    await connections.clientFor('a', signal);
    expect(opened).toEqual([internal ?? 'kubeconfig of a']);
  });

  it.each([
    ['does not exist', 'c', 'no Secret gardener-internal or gardener with a key "kubeconfig" in namespace c'],
    ['may not be read, without a try of the next Secret', 'b', '/gardener-internal: 403 Forbidden: may not'],
  ])('that %s is an error, and nothing is opened', async (_, namespace, error) => {
    const { forbid, opened, connections } = createRig();
    forbid('/namespaces/b/secrets/gardener-internal');
    await expect(connections.clientFor(namespace, signal)).rejects.toThrow(error);
    expect(opened).toEqual([]);
  });
});

describe('the connections to shoots', () => {
  it('are shared by concurrent and by successive users of a shoot, until it is gone', async () => {
    const { opened, closed, connections } = createRig();
    await Promise.all(['a', 'a', 'b'].map((one) => connections.clientFor(one, signal)));
    await connections.clientFor('a', signal);
    expect(opened).toEqual(['kubeconfig of a', 'kubeconfig of b']);
    connections.forget('a');
    expect(closed).toEqual(['kubeconfig of a']);
    await connections.clientFor('a', signal);
    connections.close();
    expect(closed).toEqual(['kubeconfig of a', 'kubeconfig of b', 'kubeconfig of a']);
  });

  it('are replaced when the credentials change, and stay open for those who use them', async () => {
    const { putSecret, opened, closed, connections } = createRig();
    await connections.clientFor('a', signal);
    putSecret('a', 'gardener', 'rotated');
    await connections.clientFor('a', signal);
    expect([opened, closed]).toEqual([['kubeconfig of a', 'rotated'], []]);
  });
});
