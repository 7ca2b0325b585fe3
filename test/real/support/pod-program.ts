import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { freePorts } from '../../envtest/processes.ts';
import { mountConfig } from './mounted-config.ts';
import { type Program, startProgram } from './program.ts';

/** A container of a pod: the fields that the node agent reads. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

/** A pod: the fields that the node agent reads. */
export interface AgentPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName?: string;
    /** `Never` for the pod of a Job. */
    readonly restartPolicy?: string;
    readonly serviceAccountName?: string;
    readonly containers: readonly Container[];
    readonly volumes?: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/**
 * URL of a module that makes POD_NAME the host name of a process. The program's identity in leader election begins with its host name, which in a pod is
 * the pod's name.
 */
export const hostname = `data:text/javascript,${encodeURIComponent(
  "import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module';" +
    'os.hostname = () => process.env.POD_NAME; syncBuiltinESMExports();',
)}`;

/** The built program in place of a pod's container. */
export interface PodProgram {
  readonly program: Program;
  /** Returns undefined while the program runs. */
  exitCode(): number | undefined;
  /** Returns the result of the readiness probe. */
  isReady(): Promise<boolean>;
  /** Resolves when the program has ended and its files are removed. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Starts the program with the pod's arguments, environment, mounted ConfigMap and ServiceAccount token. */
export const startPodProgram = async (seed: ControlPlane, pod: AgentPod, container: Container): Promise<PodProgram> => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-pod-'));
  const [metricsPort, healthPort] = await freePorts(2);
  const health = `127.0.0.1:${String(healthPort)}`;
  const given = await localArguments(seed, pod, directory);
  const hasPage = given.some((arg) => arg.startsWith('--page-bind-addr='));
  const addresses = [
    ...(hasPage ? ['--page-bind-addr=127.0.0.1:0'] : []),
    ...[`--metrics-bind-addr=127.0.0.1:${String(metricsPort)}`, `--health-bind-addr=${health}`],
  ];
  const isJob = pod.spec.restartPolicy === 'Never';
  const account = { namespace: pod.metadata.namespace, name: pod.spec.serviceAccountName ?? 'default' };
  const { file } = await seed.tokenKubeconfig(account);
  const args = [...given, `--kubeconfig=${file}`, ...(isJob ? [] : addresses)];
  const env = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value ?? '']));
  const named = { POD_NAME: pod.metadata.name, NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --import=${hostname}` };
  const program = startProgram(args, { env: { ...env, ...named } });
  let exitCode: number | undefined;
  void program.ended.then((code) => (exitCode = typeof code === 'number' ? code : 255));
  return {
    program,
    exitCode: () => exitCode,
    isReady: async () => (await fetch(`http://${health}/readyz`).catch(() => undefined))?.status === 200,
    stop: async (signal) => {
      program.signal(signal);
      await program.ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

/** Returns the arguments of the pod's container. Mounted ConfigMaps are below `directory` instead of at their mount paths. */
const localArguments = async (
  { client }: ControlPlane,
  { metadata, spec }: AgentPod,
  directory: string,
): Promise<readonly string[]> => {
  const [{ args = [], volumeMounts = [] } = {}] = spec.containers;
  const files = new Map<string, string>();
  for (const { name, mountPath } of volumeMounts) {
    const configMap = spec.volumes?.find((volume) => volume.name === name)?.configMap?.name;
    if (configMap === undefined) continue;
    const path = `/api/v1/namespaces/${metadata.namespace}/configmaps/${configMap}`;
    const { data } = await client.get<{ data: Readonly<Record<string, string>> }>(path);
    files.set(`${mountPath}/config.yaml`, mountConfig(join(directory, name), data['config.yaml'] ?? '').file);
  }
  return args.map((arg) => [...files].reduce((text, [mounted, local]) => text.replace(mounted, local), arg));
};
