import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Access, createAccess } from './access.ts';
import { type Binaries, describeMissing, findBinaries } from './binaries.ts';
import { type Authority, type Certificate, createAuthority, createSigningKeys } from './certificates.ts';
import { type TestClient, createTestClient } from './client.ts';
import { type ServerFlags, apiServerFlags, etcdFlags, pkiFiles } from './flags.ts';
import type { Kubeconfig } from './kubeconfig.ts';
import { freePorts } from './processes.ts';

/** The user as whom tests arrange and check objects. */
export const adminUser = 'envtest-admin';

export interface PlaceOptions {
  readonly name: string;
  readonly apiServerFlags?: ServerFlags;
}

/** The parts of a control plane that survive restarts of its processes: directory, ports, certificates, credentials. */
export interface ControlPlaneFiles {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly url: string;
  readonly directory: string;
  readonly binaries: Binaries;
  readonly authority: Authority;
  readonly admin: Certificate & { readonly kubeconfig: Kubeconfig };
  readonly client: TestClient;
  readonly access: Access;
  readonly etcdUrl: string;
  readonly etcdFlags: ServerFlags;
  readonly apiServerFlags: ServerFlags;
}

/** Prepares the directory, ports and certificates. Starts nothing. */
export async function prepareFiles(options: PlaceOptions): Promise<ControlPlaneFiles> {
  const binaries = findBinaries();
  if (!binaries.ok) throw new Error(describeMissing(binaries));
  const { name } = options;
  const host = '127.0.0.1';
  const [port = 0, etcdPort, etcdPeerPort] = await freePorts(3);
  const url = `https://${host}:${String(port)}`;
  const etcdUrl = `http://${host}:${String(etcdPort)}`;
  const peerUrl = `http://${host}:${String(etcdPeerPort)}`;

  const authority = await createAuthority(`${name}-ca`);
  const admin = await authority.issueClient({ user: adminUser, groups: ['system:masters'] });
  const directory = mkdtempSync(join(tmpdir(), `dwd-envtest-${name}-`));
  const pki = await writePki(makeDirectory(directory, 'pki'), authority, [host, 'localhost', 'kubernetes.default.svc']);
  const client = createTestClient({ host, port, caPem: authority.caPem, ...admin });
  const kubeconfigs = makeDirectory(directory, 'kubeconfigs');
  const access = createAccess({ client, authority, server: url, name, directory: kubeconfigs });
  return {
    name,
    host,
    port,
    url,
    directory,
    binaries,
    authority,
    admin: { ...admin, kubeconfig: access.kubeconfigWith(adminUser, admin) },
    client,
    access,
    etcdUrl,
    etcdFlags: etcdFlags({ directory: join(directory, 'etcd'), clientUrl: etcdUrl, peerUrl }),
    apiServerFlags: { ...apiServerFlags({ etcdUrl, port, pki }), ...options.apiServerFlags },
  };
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
