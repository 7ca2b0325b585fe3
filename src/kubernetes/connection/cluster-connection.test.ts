import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCertificates } from '../../../simulator/network/certificates.ts';
import { clusterAt, kubeconfigOf } from '../../../test/doubles/kubeconfig.ts';
import { createVirtualClock } from '../../../simulator/time/clock.ts';
import { type ConnectProxy, startConnectProxy } from '../../../test/doubles/connect-proxy.ts';
import { createRecordingLogger } from '../../../test/doubles/recording-logger.ts';
import { temporaryDirectory } from '../../../test/doubles/temporary-directory.ts';
import { type TestServer, startTestServer } from '../../../test/doubles/test-server.ts';
import type { Call } from '../api/call.ts';
import { createKubeClient } from '../client/client.ts';
import { type Environment, loadOperatorKubeconfig } from '../kubeconfig/index.ts';
import { connectCluster } from './cluster-connection.ts';
import { createKubeconfigCache } from './kubeconfig-cache.ts';
import { createTunnelConnector } from './port-forward.ts';
import { createShootConnector } from './shoot-connector.ts';

const certificates = await createCertificates({ now: Date.now() });

const { signal } = new AbortController();
const clock = createVirtualClock();
const version: Call<unknown> = { method: 'GET', path: '/version', decode: (json) => json };

const startServer = (handler: RequestListener): Promise<TestServer> =>
  startTestServer({ tls: { cert: certificates.serving.certificate, key: certificates.serving.key }, handler });

/** Connects by a kubeconfig file of an operator, beside which is a file with the token `one`. */
const connect = async (kubeconfig: string, env: Environment = {}) => {
  const directory = temporaryDirectory();
  const path = join(directory, 'kubeconfig');
  writeFileSync(path, kubeconfig);
  writeFileSync(join(directory, 'token'), 'one');
  const logger = createRecordingLogger();
  const access = await loadOperatorKubeconfig({ path, env, homedir: () => directory, clock });
  const connection = connectCluster({ access, clock, logger, userAgent: 'test' });
  onTestFinished(() => connection.close());
  const client = createKubeClient({ kube: connection, clock });
  const ask = async (): Promise<unknown> => (await client.call(version, { signal, timeoutMs: 10_000 })).value;
  return { directory, logger, ask };
};

it('connectCluster combines the policies: token file, 401, reset, warnings', async () => {
  let valid = 'one';
  let resets = 0;
  const server = await startServer((request, response) => {
    if (resets > 0) {
      resets -= 1;
      request.socket.destroy();
    } else if (request.headers.authorization !== `Bearer ${valid}`) {
      // The new token is written a moment after the old one expired.
      writeFileSync(join(directory, 'token'), valid);
      response.writeHead(401).end('{}');
    } else response.setHeader('warning', '299 - "old API"').end('{"ok":true}');
  });
  const cluster = clusterAt(`https://localhost:${server.port}`, certificates.ca);
  const { ask, directory, logger } = await connect(kubeconfigOf(cluster, { tokenFile: 'token' }));

  expect(await ask()).toEqual({ ok: true });
  resets = 1;
  expect(await ask()).toEqual({ ok: true });
  valid = 'two';
  expect(await ask()).toEqual({ ok: true });
  expect(await ask()).toEqual({ ok: true });
  expect(server.stats().requests).toBe(6);
  expect(logger.at('warn')).toEqual(['API server warns']);

  resets = 2;
  await expect(ask()).rejects.toMatchObject({ code: 'ConnectionError' });
});

/** Starts a proxy in front of a server, or one that refuses with this status. */
const startProxy = async (status = 200): Promise<ConnectProxy> => {
  const { port: to } = await startServer(({ headers: { authorization } }, response) =>
    response.end(JSON.stringify({ authorization })),
  );
  return startConnectProxy({ to, status });
};

const targetsOf = ({ asked }: ConnectProxy): readonly (string | undefined)[] => asked.map(({ url }) => url);

/** A kubeconfig of a server that only the proxies know. */
const behindProxy = (cluster: object = {}): string =>
  kubeconfigOf({
    ...clusterAt('https://api.seed.example:6443', certificates.ca),
    'tls-server-name': 'localhost',
    ...cluster,
  });

describe('the operator’s cluster, through the proxy of the environment', () => {
  it('rule 29b: is reached through the proxy of its kubeconfig, if that names one', async () => {
    const [proxy, ofEnvironment] = [await startProxy(), await startProxy()];
    const kubeconfig = behindProxy({ 'proxy-url': `http://127.0.0.1:${proxy.port}` });
    const { ask } = await connect(kubeconfig, { HTTPS_PROXY: `http://127.0.0.1:${ofEnvironment.port}` });
    await ask();
    expect([targetsOf(proxy), targetsOf(ofEnvironment)]).toEqual([['api.seed.example:6443'], []]);
  });

  it('is named in an error, without the password', async () => {
    const { port } = await startProxy(407);
    const { ask } = await connect(behindProxy(), { HTTPS_PROXY: `http://ops:s3cret@127.0.0.1:${port}` });
    await expect(ask()).rejects.toMatchObject({
      message: `GET /version: the proxy refused to open a tunnel (EPROXY407 while connecting, api.seed.example:6443 through the proxy 127.0.0.1:${port})`,
    });
  });
});

describe('a shoot, through the proxy of the environment', () => {
  const optionsIn = (env: Environment) => ({ clock, userAgent: 'test', known: createKubeconfigCache({ env }) });

  it('rule 29b: is reached by CONNECT, as are its pods', async () => {
    const proxy = await startProxy();
    const options = optionsIn({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` });
    const connection = createShootConnector(options).clientFor(behindProxy());
    await connection.client.call(version, { signal, timeoutMs: 10_000 });
    connection.close();
    const target = { namespace: 'kube-system', pod: 'vpn', port: 22 };
    const tunnel = createTunnelConnector(options).connect(behindProxy(), target, signal);
    // The server knows no WebSockets.
    await expect(tunnel).rejects.toThrow('no upgrade of the connection');
    expect(targetsOf(proxy)).toEqual(['api.seed.example:6443', 'api.seed.example:6443']);
  });

  it('has an error that names the environment, not the address of the proxy', async () => {
    const { port } = await startProxy(503);
    const options = optionsIn({ HTTPS_PROXY: `http://ops:s3cret@127.0.0.1:${port}` });
    const { client } = createShootConnector(options).clientFor(behindProxy());
    await expect(client.call(version, { signal, timeoutMs: 10_000 })).rejects.toThrow(
      'the proxy refused to open a tunnel (EPROXY503 while connecting, API server of the kubeconfig, through the proxy of the environment)',
    );
  });
});
