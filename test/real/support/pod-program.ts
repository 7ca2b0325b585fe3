import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { freePorts } from '../../envtest/processes.ts';
import type { AgentPod, Container } from './agent-pod.ts';
import { mountConfig } from './mounted-config.ts';
import { type Program, startProgram } from './program.ts';

/**
 * URL of a module that makes POD_NAME the host name of a process. The program's identity in leader election begins with its host name, which in a pod is
 * the pod's name.
 */
export const hostname = `data:text/javascript,${encodeURIComponent(
  "import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module';" +
    'os.hostname = () => process.env.POD_NAME; syncBuiltinESMExports();',
)}`;

/** The built program in place of a pod's container. */
export class PodProgram {
  readonly program: Program;
  readonly #healthAddress: string;
  readonly #directory: string;
  #exitCode: number | undefined;

  private constructor(program: Program, healthAddress: string, directory: string) {
    this.program = program;
    this.#healthAddress = healthAddress;
    this.#directory = directory;
    void program.ended.then((code) => (this.#exitCode = typeof code === 'number' ? code : 255));
  }

  /** Starts the program with the pod's arguments, environment, mounted ConfigMap and ServiceAccount token. */
  static async start(seed: ControlPlane, pod: AgentPod, container: Container): Promise<PodProgram> {
    const directory = mkdtempSync(join(tmpdir(), 'dwd-pod-'));
    const [metricsPort, healthPort] = await freePorts(2);
    const healthAddress = `127.0.0.1:${String(healthPort)}`;
    const given = await localArguments(seed, { pod, container, directory });
    const hasPage = given.some((arg) => arg.startsWith('--page-bind-addr='));
    const addresses = [
      ...(hasPage ? ['--page-bind-addr=127.0.0.1:0'] : []),
      `--metrics-bind-addr=127.0.0.1:${String(metricsPort)}`,
      `--health-bind-addr=${healthAddress}`,
    ];
    const isJob = pod.spec.restartPolicy === 'Never';
    const args = [...given, `--kubeconfig=${await kubeconfigOf(seed, pod)}`, ...(isJob ? [] : addresses)];
    const env = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value ?? '']));
    const named = { POD_NAME: pod.metadata.name, NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --import=${hostname}` };
    const program = startProgram(args, { env: { ...env, ...named } });
    return new PodProgram(program, healthAddress, directory);
  }

  /** Undefined while the program runs. */
  get exitCode(): number | undefined {
    return this.#exitCode;
  }

  /** Returns the result of the readiness probe. */
  async isReady(): Promise<boolean> {
    const response = await fetch(`http://${this.#healthAddress}/readyz`).catch(() => undefined);
    return response?.status === 200;
  }

  /** Resolves when the program has ended and its files are removed. */
  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.program.signal(signal);
    await this.program.ended;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Returns the file of a kubeconfig with a token of the pod's ServiceAccount. */
const kubeconfigOf = async (seed: ControlPlane, { metadata: { namespace }, spec }: AgentPod): Promise<string> => {
  const name = spec.serviceAccountName ?? 'default';
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 3_600 },
  };
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { status } = await seed.client.create<{ status: { token: string } }>(path, request);
  return seed.kubeconfigWith(`system:serviceaccount:${namespace}:${name}`, { token: status.token }).file;
};

interface Mounting {
  readonly pod: AgentPod;
  readonly container: Container;
  /** Parent of a directory for each mounted ConfigMap. */
  readonly directory: string;
}

/** Returns the container's arguments, with paths of this machine in place of the mount paths. */
const localArguments = async (
  { client }: ControlPlane,
  { pod, container, directory }: Mounting,
): Promise<readonly string[]> => {
  let args = [...(container.args ?? [])];
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const configMap = pod.spec.volumes?.find((volume) => volume.name === name)?.configMap?.name;
    if (configMap === undefined) continue;
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/configmaps/${configMap}`;
    const { data } = await client.get<{ data: Readonly<Record<string, string>> }>(path);
    const { file } = mountConfig(join(directory, name), data['config.yaml'] ?? '');
    args = args.map((arg) => arg.replace(`${mountPath}/config.yaml`, file));
  }
  return args;
};
