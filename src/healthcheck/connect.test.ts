import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { type SimApiServer, createSimApiServer } from '../../simulator/apiserver/server.ts';
import { createCertificates } from '../../simulator/network/certificates.ts';
import { type FaultRule, withFaults } from '../../simulator/network/faults.ts';
import { type SimHttpsServer, serveHttps } from '../../simulator/network/https.ts';
import { kubeconfigText } from '../../simulator/network/kubeconfig.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { createRecordingLogger } from '../../test/doubles/recording-logger.ts';
import type { Call } from '../kubernetes/api/call.ts';
import { decodeMeta, decodeObject } from '../kubernetes/api/decode.ts';
import { systemClock } from '../process/clock.ts';
import { type SeedConnection, connect } from './connect.ts';

// Tests the connection of an extension controller over a network. One API server is that of the seed and of all shoots.

const { signal } = new AbortController();
const namespace = 'shoot--dev--one';
let directory: string;
let api: SimApiServer;
let face: SimHttpsServer;
let kubeconfig: string;
let text: string;
let seed: SeedConnection;
let rule: FaultRule | undefined;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'healthcheck-connect-'));
  kubeconfig = join(directory, 'kubeconfig');
  const certificates = await createCertificates({ now: systemClock().now() });
  api = createSimApiServer({ clock: createVirtualClock() });
  const kube = withFaults(api, { clock: systemClock(), rule: (request) => rule?.(request) });
  face = await serveHttps({ kube, certificates });
  text = kubeconfigText({ server: face.url, ca: certificates.ca, user: { token: 't' } });
  writeFileSync(kubeconfig, text);
  seed = await connect({ env: {}, kubeconfig, logger: createRecordingLogger() });
});
afterAll(async () => {
  seed.close();
  await face.close();
  rmSync(directory, { recursive: true });
});

const putSecret = (name: string, kubeconfigOf: string | undefined): void =>
  void api.store.put(simKinds.Secret, {
    metadata: { namespace, name },
    data: kubeconfigOf === undefined ? {} : { kubeconfig: Buffer.from(kubeconfigOf).toString('base64') },
  });
const removeSecrets = (): void => {
  for (const name of ['gardener-internal', 'gardener', 'mine']) api.store.remove(simKinds.Secret, { namespace, name });
};
const getSecret = (name: string): Call<string> => ({
  method: 'GET',
  path: `/api/v1/namespaces/${namespace}/secrets/${name}`,
  decode: (json) => decodeMeta(decodeObject(json, 'secret'), 'secret').name,
});

describe('the connection of an extension controller', () => {
  it('reaches the seed by a kubeconfig from the option or from the environment', async () => {
    putSecret('gardener', text);
    const other = await connect({ env: { KUBECONFIG: kubeconfig }, logger: createRecordingLogger() });
    for (const { seed: client } of [seed, other]) {
      expect((await client.call(getSecret('gardener'), { signal })).value).toBe('gardener');
    }
    other.close();
    removeSecrets();
  });

  it('names its own option in an error', async () => {
    const logger = createRecordingLogger();
    await expect(connect({ env: {}, kubeconfig: '/nowhere', logger })).rejects.toThrow(
      /\/nowhere: does not exist; check the option kubeconfig$/,
    );
  });

  it.each([
    ['the Secret with the address in the seed', ['gardener-internal', 'gardener'], 'gardener-internal'],
    ['the other Secret', ['gardener'], 'gardener'],
  ])('reaches a shoot by %s', async (_, there, used) => {
    for (const name of there) putSecret(name, name === used ? text : 'broken');
    const shoot = await seed.connectShoot(namespace, signal);
    expect((await shoot.client.call(getSecret(used), { signal })).value).toBe(used);
    shoot.close();
    removeSecrets();
  });

  it('rejects with the names of the Secrets if none has a kubeconfig', async () => {
    putSecret('gardener', undefined);
    await expect(seed.connectShoot(namespace, signal)).rejects.toThrow(
      'no Secret gardener-internal or gardener with a key "kubeconfig" in namespace shoot--dev--one',
    );
    removeSecrets();
  });

  it('rejects if a Secret may not be read, and does not try the next one', async () => {
    putSecret('gardener', text);
    rule = ({ path }) => (path.endsWith('/gardener-internal') ? { status: 403, message: 'may not' } : undefined);
    await expect(seed.connectShoot(namespace, signal)).rejects.toThrow(
      '/secrets/gardener-internal: 403 Forbidden: may not',
    );
    rule = undefined;
    removeSecrets();
  });

  it('accepts other names of Secrets', async () => {
    putSecret('mine', text);
    const other = await connect({ env: {}, kubeconfig, logger: createRecordingLogger(), shootSecrets: ['mine'] });
    const shoot = await other.connectShoot(namespace, signal);
    expect((await shoot.client.call(getSecret('mine'), { signal })).value).toBe('mine');
    shoot.close();
    other.close();
    removeSecrets();
  });

  it('runs no program from the kubeconfig of a shoot', async () => {
    putSecret('gardener', text.replace('    token: "t"', '    exec: {command: touch, args: [x]}'));
    await expect(seed.connectShoot(namespace, signal)).rejects.toThrow('exec');
    removeSecrets();
  });
});
