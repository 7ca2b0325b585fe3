import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import { type Access, createAccess } from './access.ts';
import { type AuditedRequest, auditInto } from './audit.ts';
import { type Binaries, describeMissing, findBinaries } from './binaries.ts';
import { type Authority, type Certificate, createAuthority, createSigningKeys } from './certificates.ts';
import { type TestClient, createTestClient } from './client.ts';
import { type CustomKind, applyCustomKinds, gardenerKinds } from './crds.ts';
import { type ServerFlags, apiServerFlags, etcdFlags, pkiFiles, toArguments } from './flags.ts';
import type { Kubeconfig } from './kubeconfig.ts';
import { runKubectl } from './kubectl.ts';
import { type ManagedProcess, freePorts, startProcess, untilReady } from './processes.ts';

/** The user as whom tests arrange and check objects. */
const adminUser = 'envtest-admin';

export interface ControlPlaneOptions {
  /** Part of the kubeconfigs and of the name of the temporary directory: lower-case letters, digits, dashes. */
  readonly name: string;
  /** Custom kinds to define, by default `gardenerKinds` and Watermill, a kind that the program cannot know. */
  readonly kinds?: readonly CustomKind[];
  /** True if kube-apiserver is to log every request, for `requests`. */
  readonly isAudited?: boolean;
  /** Flags of kube-apiserver, without the dashes; they override the helper's own. */
  readonly apiServerFlags?: ServerFlags;
}

/** A running etcd and kube-apiserver on 127.0.0.1, with RBAC and no other component. */
export interface ControlPlane extends Access {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** `https://127.0.0.1:port` */
  readonly url: string;
  readonly caPem: string;
  /** Signs the serving certificate and is trusted for client certificates. */
  readonly authority: Authority;
  /** A client certificate in the group system:masters. */
  readonly admin: Certificate & { readonly kubeconfig: Kubeconfig };
  /** Acts as the admin. */
  readonly client: TestClient;
  /** Directory of data, logs and kubeconfigs. `stop` removes it. */
  readonly directory: string;
  readonly binaries: Binaries;
  /** Runs kubectl as the admin. Resolves to stdout, rejects with stderr. */
  readonly kubectl: (args: readonly string[], stdin?: string) => Promise<string>;
  /** Returns all requests so far but the admin's reads. Throws unless the control plane is audited. */
  readonly requests: () => readonly AuditedRequest[];
  /** Ends the processes and removes the directory. It may be called again. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a control plane. Resolves when it is ready and serves the custom kinds. If a process fails, rejects with the end of its log and
 * leaves nothing behind. The processes end with the test process at the latest.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const binaries = findBinaries();
  if (!binaries.ok) throw new Error(describeMissing(binaries));
  const { name, kinds = [...gardenerKinds, simKinds.Watermill] } = options;
  const host = '127.0.0.1';
  const [port = 0, etcdPort, etcdPeerPort] = await freePorts(3);
  const url = `https://${host}:${String(port)}`;
  const [etcdUrl, peerUrl] = [etcdPort, etcdPeerPort].map((one) => `http://${host}:${String(one)}`) as [string, string];

  const authority = await createAuthority(`${name}-ca`);
  const certificate = await authority.issueClient({ user: adminUser, groups: ['system:masters'] });
  const directory = mkdtempSync(join(tmpdir(), `dwd-envtest-${name}-`));
  const pki = await writePki(makeDirectory(directory, 'pki'), authority, [host, 'localhost', 'kubernetes.default.svc']);
  const client = createTestClient({ host, port, caPem: authority.caPem, ...certificate });
  const kubeconfigs = makeDirectory(directory, 'kubeconfigs');
  const access = createAccess({ client, authority, server: url, name, directory: kubeconfigs });
  const admin = { ...certificate, kubeconfig: access.kubeconfigWith(adminUser, certificate) };
  const audit = options.isAudited === true ? auditInto(directory, adminUser) : undefined;
  const kubectl = { command: binaries.path('kubectl'), kubeconfig: admin.kubeconfig.file, directory };

  let etcd: ManagedProcess | undefined;
  let apiServer: ManagedProcess | undefined;
  const launch = (program: 'etcd' | 'kube-apiserver', flags: ServerFlags): Promise<ManagedProcess> =>
    startProcess({
      name: program,
      command: binaries.path(program),
      args: toArguments(flags),
      logFile: join(directory, `${program}.log`),
      directory,
    });
  const stop = async (): Promise<void> => {
    // The limit is short: open watches delay a graceful shutdown, and there is nothing to save.
    await apiServer?.stop({ withinMs: 500 });
    client.disconnect();
    await etcd?.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    etcd = await launch('etcd', etcdFlags({ directory: join(directory, 'etcd'), clientUrl: etcdUrl, peerUrl }));
    await untilReady(etcd, () => isEtcdReady(etcdUrl));
    const flags = { ...apiServerFlags({ etcdUrl, port, pki }), ...audit?.flags, ...options.apiServerFlags };
    apiServer = await launch('kube-apiserver', flags);
    await untilReady(apiServer, () => isApiServerReady(client));
    await applyCustomKinds(client, kinds);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...access,
    ...{ name, host, port, url, directory, binaries, authority, admin, client, stop },
    caPem: authority.caPem,
    kubectl: (args, stdin) => runKubectl({ ...kubectl, args, stdin }),
    requests: () => {
      if (audit === undefined) throw new Error(`${name} is not audited`);
      return audit.requests();
    },
  };
}

async function isEtcdReady(url: string): Promise<boolean> {
  const reply = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined);
  await reply?.body?.cancel();
  return reply?.status === 200;
}

async function isApiServerReady(client: TestClient): Promise<boolean> {
  const signal = AbortSignal.timeout(2000);
  const reply = await client.request({ method: 'GET', path: '/readyz', signal }).catch(() => undefined);
  return reply?.status === 200;
}

type PkiFile = keyof typeof pkiFiles;

/** Writes certificates and keys to files. Resolves to a function that returns the path of each. */
async function writePki(
  directory: string,
  authority: Authority,
  hosts: readonly string[],
): Promise<(file: PkiFile) => string> {
  const server = await authority.issueServer(hosts);
  const tokens = await createSigningKeys();
  const contents: Readonly<Record<PkiFile, string>> = {
    ca: authority.caPem,
    serverCertificate: server.certificatePem,
    serverKey: server.keyPem,
    tokenPublicKey: tokens.publicPem,
    tokenPrivateKey: tokens.privatePem,
  };
  const path = (file: PkiFile) => join(directory, pkiFiles[file]);
  for (const file of Object.keys(contents) as PkiFile[]) writeFileSync(path(file), contents[file], { mode: 0o600 });
  return path;
}

function makeDirectory(parent: string, name: string): string {
  const directory = join(parent, name);
  mkdirSync(directory);
  return directory;
}
