import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { createSimApiServer } from '../../simulator/apiserver/server.ts';
import { createCertificates } from '../../simulator/network/certificates.ts';
import { type FaultRule, withFaults } from '../../simulator/network/faults.ts';
import { type SimHttpsServer, serveHttps } from '../../simulator/network/https.ts';
import { kubeconfigText } from '../../simulator/network/kubeconfig.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createKubeClient } from '../kubernetes/client/client.ts';
import { getVersion } from '../gardener/shoot-calls.ts';
import { systemClock } from '../process/clock.ts';
import { type ShootAccess, createShootAccess } from './connect-shoots.ts';

// The seed is in memory; the shoot is behind a network.

const { signal } = new AbortController();
const namespace = 'shoot--dev--one';
const names = ['gardener-internal', 'gardener', 'mine'];
const clock = systemClock();
const api = createSimApiServer({ clock: createVirtualClock() });
let rule: FaultRule | undefined;
const seed = createKubeClient({ kube: withFaults(api, { clock, rule: (request) => rule?.(request) }), clock });
let face: SimHttpsServer;
let text: string;
let shoots: ShootAccess;

const accessTo = (shootSecrets?: readonly string[]): ShootAccess =>
  createShootAccess({ env: {}, shootSecrets }, { clock, seed, userAgent: 'test' });

beforeAll(async () => {
  const certificates = await createCertificates({ now: clock.now() });
  face = await serveHttps({ kube: api, certificates });
  text = kubeconfigText({ server: face.url, ca: certificates.ca, user: { token: 't' } });
  shoots = accessTo();
});
afterEach(() => {
  rule = undefined;
  for (const name of names) api.store.remove(simKinds.Secret, { namespace, name });
});
afterAll(async () => {
  shoots.close();
  await face.close();
});

const putSecret = (name: string, kubeconfig: string | undefined): void =>
  void api.store.put(simKinds.Secret, {
    metadata: { namespace, name },
    data: kubeconfig === undefined ? {} : { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
  });

describe('a shoot', () => {
  it.each([
    ['the Secret with the address in the seed', undefined, 'gardener-internal'],
    ['the other Secret, if that one is missing', undefined, 'gardener'],
    ['the Secret of the option', ['mine'], 'mine'],
  ])('is reached by %s', async (_, shootSecrets, used) => {
    for (const name of names.slice(names.indexOf(used))) putSecret(name, name === used ? text : 'broken');
    const access = accessTo(shootSecrets);
    const shoot = await access.connectShoot(namespace, signal);
    await expect(shoot.client.call(getVersion, { signal })).resolves.toBeDefined();
    shoot.close();
    access.close();
  });

  it('without a kubeconfig is not reached, and the error names the Secrets', async () => {
    putSecret('gardener', undefined);
    await expect(shoots.connectShoot(namespace, signal)).rejects.toThrow(
      'no Secret gardener-internal or gardener with a key "kubeconfig" in namespace shoot--dev--one',
    );
  });

  it('whose first Secret may not be read is not reached by the next one', async () => {
    putSecret('gardener', text);
    rule = ({ path }) => (path.endsWith('/gardener-internal') ? { status: 403, message: 'may not' } : undefined);
    await expect(shoots.connectShoot(namespace, signal)).rejects.toThrow(
      '/secrets/gardener-internal: 403 Forbidden: may not',
    );
  });

  it('cannot make us run a program by its kubeconfig', async () => {
    putSecret('gardener', text.replace('    token: "t"', '    exec: {command: touch, args: [x]}'));
    await expect(shoots.connectShoot(namespace, signal)).rejects.toThrow('exec');
  });
});
