import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { simKinds } from '../../simulator/apiserver/kinds.ts';
import type { Access } from './access.ts';
import type { Binaries } from './binaries.ts';
import type { Authority, Certificate } from './certificates.ts';
import type { TestClient } from './client.ts';
import { type CustomKind, applyCustomKinds, gardenerKinds } from './crds.ts';
import { type ServerFlags, toArguments } from './flags.ts';
import type { Kubeconfig } from './kubeconfig.ts';
import { runKubectl } from './kubectl.ts';
import { type ControlPlaneFiles, prepareFiles } from './place.ts';
import { type ManagedProcess, startProcess, untilReady } from './processes.ts';

export interface ControlPlaneOptions {
  /** Part of the kubeconfigs and of the name of the temporary directory: lower-case letters, digits, dashes. */
  readonly name: string;
  /** Custom kinds to define, by default `gardenerKinds` and Watermill, a kind that the program cannot know. */
  readonly kinds?: readonly CustomKind[];
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
  /** Returns the pids of the processes that are running. */
  readonly pids: () => { readonly etcd?: number; readonly apiServer?: number };
  /** Ends the processes and removes the directory. It may be called again. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a control plane. Resolves when it is ready and serves the custom kinds. If a process fails, rejects with the end of its log and
 * leaves nothing behind. The processes end with the test process at the latest.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const place = await prepareFiles(options);
  const { start, ...servers } = createServers(place);
  try {
    await start();
    await applyCustomKinds(place.client, options.kinds ?? [...gardenerKinds, simKinds.Watermill]);
  } catch (error) {
    await servers.stop();
    throw error;
  }
  const { name, host, port, url, directory, binaries, authority, admin, client } = place;
  const kubectl = { command: binaries.path('kubectl'), kubeconfig: admin.kubeconfig.file, directory };
  return {
    ...place.access,
    ...servers,
    name,
    host,
    port,
    url,
    directory,
    binaries,
    authority,
    admin,
    client,
    caPem: authority.caPem,
    kubectl: (args, stdin) => runKubectl({ ...kubectl, args, stdin }),
  };
}

/** Manages the two processes: etcd starts first and stops last. */
function createServers(place: ControlPlaneFiles) {
  let etcd: ManagedProcess | undefined;
  let apiServer: ManagedProcess | undefined;

  return {
    start: async () => {
      etcd = await launch(place, 'etcd', place.etcdFlags);
      await untilReady(etcd, () => isEtcdReady(place.etcdUrl));
      apiServer = await launch(place, 'kube-apiserver', place.apiServerFlags);
      await untilReady(apiServer, () => isApiServerReady(place.client));
    },
    pids: () => ({
      ...(etcd?.hasEnded() === false && { etcd: etcd.pid }),
      ...(apiServer?.hasEnded() === false && { apiServer: apiServer.pid }),
    }),
    stop: async () => {
      // The limit is short: open watches delay a graceful shutdown, and there is nothing to save.
      await apiServer?.stop({ withinMs: 500 });
      place.client.disconnect();
      await etcd?.stop();
      rmSync(place.directory, { recursive: true, force: true });
    },
  };
}

function launch(
  place: ControlPlaneFiles,
  name: 'etcd' | 'kube-apiserver',
  flags: ServerFlags,
): Promise<ManagedProcess> {
  return startProcess({
    name,
    command: place.binaries.path(name),
    args: toArguments(flags),
    logFile: join(place.directory, `${name}.log`),
    directory: place.directory,
  });
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
