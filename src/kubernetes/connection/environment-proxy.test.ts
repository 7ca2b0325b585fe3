import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { clusterAt, kubeconfigOf as kubeconfigWith } from '../../../test/doubles/kubeconfig.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { type ConnectProxy, type ConnectProxyOptions, startConnectProxy } from '../../../test/doubles/connect-proxy.ts';
import { createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import { temporaryDirectory } from '../../../test/doubles/temporary-directory.ts';
import { type TestServer, startTestServer } from '../../../test/doubles/test-server.ts';
import type { Call } from '../api/call.ts';
import { createKubeClient } from '../client/client.ts';
import { type ClusterAccess, type Environment, loadOperatorKubeconfig } from '../kubeconfig/index.ts';
import { connectCluster } from './cluster-connection.ts';
import { createKubeconfigCache } from './kubeconfig-cache.ts';
import { createTunnelConnector } from './port-forward.ts';
import { createShootConnector } from './shoot-connector.ts';

const certificates = await createCertificates({ now: Date.now() });

let server: TestServer;
beforeEach(async () => {
  const { certificate, key } = certificates.serving;
  server = await startTestServer({
    tls: { cert: certificate, key },
    handler: (request, response) => response.end(JSON.stringify({ authorization: request.headers.authorization })),
  });
});

const { signal } = new AbortController();
const clock = createVirtualClock();
const version: Call<unknown> = { method: 'GET', path: '/version', decode: (json) => json };

/** Starts a proxy in front of the server. */
const startProxy = (options: Partial<ConnectProxyOptions> = {}): Promise<ConnectProxy> =>
  startConnectProxy({ to: server.port, ...options });

const targetsOf = ({ asked }: ConnectProxy): readonly (string | undefined)[] => asked.map(({ url }) => url);

const kubeconfigOf = (cluster: object): string =>
  kubeconfigWith({
    ...clusterAt('https://api.seed.example:6443', certificates.ca),
    'tls-server-name': 'localhost',
    ...cluster,
  });

const load = (env: Environment, kubeconfig = kubeconfigOf({})): Promise<ClusterAccess> => {
  const directory = temporaryDirectory();
  const path = join(directory, 'kubeconfig');
  writeFileSync(path, kubeconfig);
  return loadOperatorKubeconfig({ path, env, homedir: () => directory, clock });
};

const ask = async (access: ClusterAccess): Promise<unknown> => {
  const connection = connectCluster({ access, clock, logger: createRecordingLogger(), userAgent: 'test' });
  onTestFinished(() => connection.close());
  const client = createKubeClient({ kube: connection, clock });
  return (await client.call(version, { signal, timeoutMs: 10_000 })).value;
};

describe('the operator’s cluster, through the proxy of the environment', () => {
  it('rule 29b: is reached by CONNECT, with the credentials of the proxy', async () => {
    const proxy = await startProxy();
    const env = { HTTPS_PROXY: `http://ops:s3cret@127.0.0.1:${proxy.port}` };
    expect(await ask(await load(env))).toEqual({ authorization: 'Bearer t' });
    expect(targetsOf(proxy)).toEqual(['api.seed.example:6443']);
    expect(proxy.asked[0]?.headers['proxy-authorization']).toBe(
      `Basic ${Buffer.from('ops:s3cret').toString('base64')}`,
    );
  });

  it('rule 29b: is reached through the proxy of its kubeconfig, if that names one', async () => {
    const [proxy, ofEnvironment] = [await startProxy(), await startProxy()];
    const kubeconfig = kubeconfigOf({ 'proxy-url': `http://127.0.0.1:${proxy.port}` });
    await ask(await load({ HTTPS_PROXY: `http://127.0.0.1:${ofEnvironment.port}` }, kubeconfig));
    expect([targetsOf(proxy), targetsOf(ofEnvironment)]).toEqual([['api.seed.example:6443'], []]);
  });

  it('is named in an error, without the password', async () => {
    const { port } = await startProxy({ status: 407 });
    const access = await load({ HTTPS_PROXY: `http://ops:s3cret@127.0.0.1:${port}` });
    await expect(ask(access)).rejects.toMatchObject({
      message: `GET /version: the proxy refused to open a tunnel (EPROXY407 while connecting, api.seed.example:6443 through the proxy 127.0.0.1:${port})`,
    });
  });
});

describe('a shoot, through the proxy of the environment', () => {
  const connectors = (env: Environment) => {
    const known = createKubeconfigCache({ env });
    const options = { clock, userAgent: 'test', known };
    const tunnels = createTunnelConnector(options);
    return { shoots: createShootConnector(options), tunnels };
  };
  const target = { namespace: 'kube-system', pod: 'vpn', port: 22 };

  it('rule 29b: is reached by CONNECT, as are its pods', async () => {
    const proxy = await startProxy();
    const { shoots, tunnels } = connectors({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
    const connection = shoots.clientFor(kubeconfigOf({}));
    await connection.client.call(version, { signal, timeoutMs: 10_000 });
    connection.close();
    // The server knows no WebSockets.
    await expect(tunnels.connect(kubeconfigOf({}), target, signal)).rejects.toThrow('no upgrade of the connection');
    expect(targetsOf(proxy)).toEqual(['api.seed.example:6443', 'api.seed.example:6443']);
  });

  it('has an error that names the environment, not the address of the proxy', async () => {
    const { port } = await startProxy({ status: 503 });
    const { shoots } = connectors({ HTTPS_PROXY: `http://ops:s3cret@127.0.0.1:${port}` });
    const { client } = shoots.clientFor(kubeconfigOf({}));
    await expect(client.call(version, { signal, timeoutMs: 10_000 })).rejects.toThrow(
      'the proxy refused to open a tunnel (EPROXY503 while connecting, API server of the kubeconfig, through the proxy of the environment)',
    );
  });
});
