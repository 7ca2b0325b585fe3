import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Server, type TLSSocket, createServer } from 'node:tls';
import { afterAll, describe, expect, it } from 'vitest';
import { type SimCertificates, createCertificates } from '../../simulator/network/certificates.ts';
import { createVirtualClock } from '../../simulator/time/clock.ts';
import { KubeconfigError, errorText } from '../../src/kubernetes/api/errors.ts';
import { createKubeconfigCache } from '../../src/kubernetes/connection/index.ts';
import { loadOperatorKubeconfig } from '../../src/kubernetes/kubeconfig/index.ts';
import { type Endpoint, type Security, authority, dial } from '../../src/kubernetes/transport/index.ts';
import { type KubeconfigVerdict, clientGo } from './client-go.ts';
import { type KubeconfigCase, kubeconfigCases } from './kubeconfig-cases.ts';

/** Differences from client-go on purpose: docs/dev/connections.md explains them. */
const refusedByUs: readonly string[] = [
  ...['impersonation', 'oidc-auth-provider', 'duplicate-key', 'user-is-missing'],
  ...['server-without-scheme', 'server-is-an-address', 'server-with-other-scheme', 'server-with-query'],
  ...['server-with-user', 'ca-with-a-broken-certificate'],
];
const refusedByClientGo: readonly string[] = [
  ...['another-kind', 'unknown-version', 'broken-other-user', 'ca-twice', 'exec-v1-without-interactive-mode'],
];

/** Reasons for which a shoot's kubeconfig is refused that client-go accepts (docs/dev/connections.md). */
const strictness =
  /is refused: |is http:\/\/|is localhost|link-local|SOCKS proxy|repeats a key|names an entry that is not there|must be an http|must have neither|must not hold|is not a URL|user: is not set|is not set, but/;

const { signal } = new AbortController();
const certificates = await createCertificates({ now: Date.now() });
const cases = await kubeconfigCases(certificates);
const root = mkdtempSync(join(tmpdir(), 'kubeconfigs-'));

interface Listening {
  readonly port: number;
  readonly server: Server;
  /** True if the client of the last connection had a certificate. */
  readonly sawCertificate: () => boolean;
}

const listen = async ({ serving }: SimCertificates): Promise<Listening> => {
  let seen = false;
  const server = createServer(
    { cert: serving.certificate, key: serving.key, requestCert: true, rejectUnauthorized: false },
    (socket: TLSSocket) => {
      seen = Object.keys(socket.getPeerCertificate()).length > 0;
      socket.on('error', () => undefined).end('x');
    },
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port, sawCertificate: () => seen };
};

const own = await listen(certificates);
const foreign = await listen(await createCertificates({ now: Date.now() }));
afterAll(() => {
  own.server.close();
  foreign.server.close();
  rmSync(root, { recursive: true });
});

const connects = async (security: Security, { port }: Listening): Promise<boolean> => {
  const endpoint: Endpoint = { protocol: 'https:', host: '127.0.0.1', port, basePath: '', servername: 'localhost' };
  try {
    const socket = await dial({ endpoint, security, signal, clock: createVirtualClock() });
    await new Promise((resolve) => void socket.once('data', resolve));
    socket.destroy();
    return true;
  } catch {
    return false;
  }
};

/** Judges TLS settings by what they do: which servers they trust, and what these see. */
const judgeTls = async (security: Security): Promise<Pick<KubeconfigVerdict, 'trust' | 'certificate'>> => {
  const trustsForeign = await connects(security, foreign);
  const trustsOwn = await connects(security, own);
  return {
    trust: trustsForeign ? 'insecure' : trustsOwn ? 'ca' : 'system',
    ...(trustsOwn && own.sawCertificate() ? { certificate: true } : {}),
  };
};

const urlOf = ({ protocol, basePath, ...at }: Pick<Endpoint, 'protocol' | 'host' | 'port' | 'basePath'>): string =>
  new URL(`${protocol}//${authority(at)}${basePath}`).href;

const proxyOf = ({ proxy }: Endpoint): string | undefined =>
  proxy === undefined ? undefined : new URL(`${proxy.protocol}//${authority(proxy)}`).href;

/** Loads the case as the operator's kubeconfig. */
const judge = async (one: KubeconfigCase): Promise<KubeconfigVerdict> => {
  const directory = mkdtempSync(join(root, 'case-'));
  for (const [name, text] of Object.entries(one.files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  const env = { KUBECONFIG: one.load.map((name) => join(directory, name)).join(':'), PATH: directory };
  try {
    const options = { env, context: one.context, homedir: () => directory, clock: createVirtualClock() };
    const access = await loadOperatorKubeconfig(options);
    const authorization = await access.credentials
      .authorization(signal)
      .catch((error: unknown) => (errorText(error).includes('credential plugin') ? 'exec' : Promise.reject(error)));
    return {
      server: urlOf(access.endpoint),
      serverName: access.endpoint.servername,
      authorization,
      proxy: proxyOf(access.endpoint),
      ...(authorization === 'exec' ? {} : await judgeTls(await access.security(signal))),
    };
  } catch (error) {
    return { error: errorText(error).replaceAll(directory, '~') };
  }
};

/** Loads the case as a shoot's kubeconfig. Returns the problem; undefined if there is none. */
const judgeShoot = ({ files }: KubeconfigCase): string | undefined => {
  try {
    createKubeconfigCache().lookUp(Object.values(files).join('\n'));
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    return error.message;
  }
};

/** Brings both verdicts to one form. TLS settings that a plugin completes are not judged, nor those of http. */
const comparable = (verdict: KubeconfigVerdict): KubeconfigVerdict => {
  if (verdict.error !== undefined) return { error: 'refused' };
  const { server = '', proxy, trust, certificate, authorization, ...others } = verdict;
  const isJudged = authorization !== 'exec' && server.startsWith('https:');
  return {
    ...others,
    server: new URL(server).href.replace(/\/$/, ''),
    authorization,
    ...(proxy === undefined ? {} : { proxy: new URL(proxy).href }),
    ...(isJudged ? { trust, certificate } : {}),
  };
};

describe('rule 29b: a kubeconfig of the operator is judged as by client-go', () => {
  it('for the same cases', () => {
    const names = cases.map(({ name }) => name);
    expect(names.sort()).toEqual(Object.keys(clientGo.kubeconfigs).sort());
    expect(names).toEqual(expect.arrayContaining([...refusedByUs, ...refusedByClientGo]));
  });

  it.each(cases)('rule 29b: $name', async (one) => {
    const verdict = await judge(one);
    const expected = clientGo.kubeconfigs[one.name] ?? {};
    if (refusedByUs.includes(one.name)) expect([expected.error, typeof verdict.error]).toEqual([undefined, 'string']);
    else if (refusedByClientGo.includes(one.name)) {
      expect([typeof expected.error, verdict.error]).toEqual(['string', undefined]);
    } else expect(comparable(verdict)).toEqual(comparable(expected));
  });
});

const single = cases.filter(({ files, context }) => Object.keys(files).length === 1 && context === '');

it.each(single)('rule 30: a kubeconfig of a shoot is accepted, or refused for a documented reason: $name', (one) => {
  const problem = judgeShoot(one);
  const { error } = clientGo.kubeconfigs[one.name] ?? {};
  if (error === undefined && problem !== undefined) expect(problem).toMatch(strictness);
  if (error !== undefined && problem === undefined) expect(refusedByClientGo).toContain(one.name);
});
