import { afterEach, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { kubeconfigSecretName } from '../../simulator/world/objects.ts';
import { type ServedWorld, serveWorld } from '../../simulator/world/serve.ts';
import { type World, createWorld } from '../../simulator/world/world.ts';
import { getVersion } from '../../src/gardener/shoot-calls.ts';
import { decodeObject, optionalObject } from '../../src/kubernetes/api/decode.ts';
import { listNodeLeases } from '../../src/kubernetes/api/lease.ts';
import type { ShootConnection } from '../../src/kubernetes/api/shoot-connection.ts';
import { createShootConnector } from '../../src/kubernetes/connection/shoot-connector.ts';
import { systemClock } from '../../src/process/clock.ts';

let world: World;
let served: ServedWorld;
const connections: ShootConnection[] = [];

const serve = async (): Promise<void> => {
  const clock = systemClock();
  world = createWorld({ clock, shoots: [{ name: 'a' }, { name: 'b', nodes: 3 }] });
  served = await serveWorld(world, clock.now());
};

afterEach(async () => {
  for (const connection of connections.splice(0)) connection.close();
  world.stop();
  await served.close();
});

const secretOf = (shoot: string): string => {
  const { namespace } = world.shoot(shoot);
  const secret = world.store.get(simKinds.Secret, { namespace, name: kubeconfigSecretName });
  const data = optionalObject(decodeObject(secret, 'secret').data, 'data') ?? {};
  return Buffer.from(String(data.kubeconfig), 'base64').toString();
};

const connect = (kubeconfig: string): ShootConnection['client'] => {
  const connection = createShootConnector({ clock: systemClock(), userAgent: 'test' }).clientFor(kubeconfig);
  connections.push(connection);
  return connection.client;
};

const options = { signal: new AbortController().signal, timeoutMs: 5_000 };

describe('a served world', () => {
  it('is reachable with the kubeconfigs of its Secrets, each shoot with its own', async () => {
    await serve();
    const leases = await Promise.all(
      ['a', 'b'].map(async (name) => (await connect(secretOf(name)).call(listNodeLeases, options)).value.length),
    );
    expect(leases).toEqual([5, 3]);
    await expect(connect(served.kubeconfig).call(getVersion, options)).resolves.toBeDefined();
  });

  it('rejects the token of another shoot, and is rejected with the certificate authority of another shoot', async () => {
    await serve();
    const token = /token: .*/.exec(secretOf('b'))![0];
    await expect(connect(secretOf('a').replace(/token: .*/, token)).call(getVersion, options)).rejects.toMatchObject({
      code: 'Unauthorized',
    });
    const server = /server: .*/.exec(secretOf('b'))![0];
    await expect(connect(secretOf('a').replace(/server: .*/, server)).call(getVersion, options)).rejects.toMatchObject({
      code: 'ConnectionError',
    });
  });

  it('breaks connections to an API server that is set to refuse them', async () => {
    await serve();
    world.shoot('a').api.setReachability('refused');
    await expect(connect(secretOf('a')).call(getVersion, options)).rejects.toMatchObject({ code: 'ConnectionError' });
    await expect(connect(secretOf('b')).call(getVersion, options)).resolves.toBeDefined();
    world.shoot('a').api.setReachability('open');
    await expect(connect(secretOf('a')).call(getVersion, options)).resolves.toBeDefined();
  });
});
