import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Access } from './access.ts';
import type { Binaries } from './binaries.ts';
import type { Authority, Certificate } from './certificates.ts';
import type { TestClient } from './client.ts';
import { type CustomKind, applyCustomKinds, gardenerKinds, watermill } from './crds.ts';
import { type ServerFlags, toArguments } from './flags.ts';
import type { Kubeconfig } from './kubeconfig.ts';
import { runKubectl } from './kubectl.ts';
import { type ControlPlanePlace, preparePlace } from './place.ts';
import { type ManagedProcess, type StopOptions, startProcess, untilReady } from './processes.ts';

export interface ControlPlaneOptions {
  /** Appears in the kubeconfigs and in the name of the temporary directory: lower-case letters, digits, dashes. */
  readonly name: string;
  /** Custom kinds to define; `gardenerKinds` and `watermill` unless told. */
  readonly kinds?: readonly CustomKind[];
  /** Flags of kube-apiserver, without the dashes; they override the helper's own. */
  readonly apiServerFlags?: ServerFlags;
  /** For each process; 60 000 unless told. */
  readonly readyWithinMs?: number;
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
  /** As the admin. */
  readonly client: TestClient;
  /** Holds data, logs and kubeconfigs; removed by `stop`. */
  readonly directory: string;
  readonly binaries: Binaries;
  /** From the call to the first answer with all kinds defined. */
  readonly startedInMs: number;
  /** As the admin; resolves to stdout, rejects with stderr. */
  readonly kubectl: (args: readonly string[], stdin?: string) => Promise<string>;
  /** Of the processes that run now. */
  readonly pids: () => { readonly etcd?: number; readonly apiServer?: number };
  /** Data and port stay. Open watches delay it up to the limit; `{ signal: 'SIGKILL' }` for a crash. */
  readonly stopApiServer: (options?: StopOptions) => Promise<void>;
  /** On the same port with the same data; resolves when it is ready. */
  readonly startApiServer: () => Promise<void>;
  /** Connections stay open and are still accepted by the kernel, and nothing answers. */
  readonly pauseApiServer: () => Promise<void>;
  readonly resumeApiServer: () => void;
  /** The API server stays up and cannot read or write. */
  readonly pauseEtcd: () => Promise<void>;
  readonly resumeEtcd: () => void;
  /** Ends the processes and removes the directory. Calling it again is fine. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a control plane and resolves when it is ready and serves the custom kinds. Fails with the end of the log of the process
 * to blame, leaving nothing behind. What it started ends with the test process at the latest.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const started = performance.now();
  const place = await preparePlace(options);
  const { start, ...servers } = createServers(place);
  try {
    await start();
    await applyCustomKinds(place.client, options.kinds ?? [...gardenerKinds, watermill]);
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
    startedInMs: Math.round(performance.now() - started),
  };
}

/** The two processes and their order: etcd first up and last down. */
function createServers(place: ControlPlanePlace) {
  let etcd: ManagedProcess | undefined;
  let apiServer: ManagedProcess | undefined;

  const startApiServer = async () => {
    if (apiServer?.hasEnded() === false) throw new Error('the API server runs already');
    apiServer = await launch(place, 'kube-apiserver', place.apiServerFlags);
    await untilReady(apiServer, place.readyWithinMs, () => isApiServerReady(place.client));
  };
  const stopApiServer = async (options?: StopOptions) => {
    await apiServer?.stop(options);
    place.client.disconnect();
  };
  return {
    start: async () => {
      etcd = await launch(place, 'etcd', place.etcdFlags);
      await untilReady(etcd, place.readyWithinMs, () => isEtcdReady(place.etcdUrl));
      await startApiServer();
    },
    startApiServer,
    stopApiServer,
    pauseApiServer: async () => apiServer?.pause(),
    resumeApiServer: () => apiServer?.resume(),
    pauseEtcd: async () => etcd?.pause(),
    resumeEtcd: () => etcd?.resume(),
    pids: () => ({
      ...(etcd?.hasEnded() === false && { etcd: etcd.pid }),
      ...(apiServer?.hasEnded() === false && { apiServer: apiServer.pid }),
    }),
    stop: async () => {
      etcd?.resume();
      // Open watches hold up a graceful shutdown, and there is nothing left to save.
      await stopApiServer({ withinMs: 500 });
      await etcd?.stop();
      rmSync(place.directory, { recursive: true, force: true });
    },
  };
}

function launch(
  place: ControlPlanePlace,
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
