import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { freePorts } from '../../envtest/processes.ts';
import { mountConfig } from './mounted-config.ts';
import { type Program, startProgram } from './program.ts';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface AgentPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly containers: readonly Container[];
    readonly volumes?: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[];
  };
}

export interface NodeAgent {
  /** Of the pods that run now. */
  programs(): readonly Program[];
  stop(): Promise<void>;
}

/** What runs this program; everything else is taken to run well. */
const ours = 'dependency-watchdog';
/** Such images nobody can pull. */
const missing = 'missing';
/** Its identity in an election begins with its host name, which in a pod is the name of the pod. */
export const hostname = `data:text/javascript,${encodeURIComponent(
  "import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module';" +
    'os.hostname = () => process.env.POD_NAME; syncBuiltinESMExports();',
)}`;

interface Running {
  readonly program: Program;
  readonly health: string;
  readonly directory: string;
  hasEnded: boolean;
  isReady: boolean;
}

const pathOf = ({ metadata: { namespace, name } }: AgentPod): string => `/api/v1/namespaces/${namespace}/pods/${name}`;

/**
 * Scheduler and kubelet of a control plane without nodes: binds every pod, runs the built program where the image is ours (command line, environment, mounted
 * ConfigMap and the ServiceAccount's own token as the pod has them), says what becomes of it, and ends it with SIGTERM.
 */
export const startNodeAgent = (seed: ControlPlane): NodeAgent => {
  const { client } = seed;
  const running = new Map<string, Running>();
  let stopped = false;

  const say = (pod: AgentPod, status: object): Promise<unknown> =>
    client.patch(`${pathOf(pod)}/status`, { status }).catch(() => undefined);

  const bind = async (pod: AgentPod): Promise<void> => {
    if (pod.spec.nodeName !== undefined) return;
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node' };
    const metadata = { name: pod.metadata.name, namespace: pod.metadata.namespace };
    await client.create(`${pathOf(pod)}/binding`, { apiVersion: 'v1', kind: 'Binding', metadata, target });
  };

  const kubeconfigOf = async ({ metadata: { namespace }, spec }: AgentPod): Promise<string> => {
    const name = spec.serviceAccountName ?? 'default';
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3_600 },
    };
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
    const { status } = await client.create<{ status: { token: string } }>(path, request);
    return seed.kubeconfigWith(`system:serviceaccount:${namespace}:${name}`, { token: status.token }).file;
  };

  /** The arguments with the paths of this machine in the place of the container's. */
  const mounted = async (pod: AgentPod, container: Container, directory: string): Promise<readonly string[]> => {
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

  const start = async (pod: AgentPod, container: Container): Promise<Running> => {
    const directory = mkdtempSync(join(tmpdir(), 'dwd-pod-'));
    const [metricsPort, healthPort] = await freePorts(2);
    const health = `127.0.0.1:${String(healthPort)}`;
    const given = await mounted(pod, container, directory);
    const hasPage = given.some((arg) => arg.startsWith('--page-bind-addr='));
    const args = [
      ...given,
      ...(hasPage ? ['--page-bind-addr=127.0.0.1:0'] : []),
      `--kubeconfig=${await kubeconfigOf(pod)}`,
      `--metrics-bind-addr=127.0.0.1:${String(metricsPort)}`,
      `--health-bind-addr=${health}`,
    ];
    const env = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value ?? '']));
    const program = startProgram(args, {
      ...env,
      POD_NAME: pod.metadata.name,
      NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --import=${hostname}`,
    });
    const started: Running = { program, health, directory, hasEnded: false, isReady: false };
    void program.ended.then(() => (started.hasEnded = true));
    return started;
  };

  const end = async (pod: AgentPod): Promise<void> => {
    const { uid } = pod.metadata;
    const process = running.get(uid);
    process?.program.signal('SIGTERM');
    await process?.program.ended;
    if (process !== undefined) rmSync(process.directory, { recursive: true, force: true });
    running.delete(uid);
    await client.delete(`${pathOf(pod)}?gracePeriodSeconds=0`);
  };

  const containerStatus = ({ name, image }: Container, ready: boolean, state: object) => ({
    name,
    image,
    imageID: '',
    ready,
    restartCount: 0,
    state,
  });

  const waiting = (container: Container): object => {
    const reason = 'ImagePullBackOff';
    const message = `Back-off pulling image "${container.image}"`;
    return {
      phase: 'Pending',
      containerStatuses: [containerStatus(container, false, { waiting: { reason, message } })],
    };
  };

  const up = (container: Container, ready: boolean): object => ({
    phase: 'Running',
    conditions: ['Ready', 'ContainersReady'].map((type) => ({ type, status: ready ? 'True' : 'False' })),
    containerStatuses: [containerStatus(container, ready, { running: { startedAt: new Date().toISOString() } })],
  });

  /** Once per change of what there is to say. */
  const said = new Map<string, string>();
  const sayOnce = async (pod: AgentPod, status: { readonly key: string; readonly value: object }): Promise<void> => {
    if (said.get(pod.metadata.uid) === status.key) return;
    said.set(pod.metadata.uid, status.key);
    await say(pod, status.value);
  };

  const follow = async (pod: AgentPod): Promise<void> => {
    const { uid, deletionTimestamp } = pod.metadata;
    const [container] = pod.spec.containers;
    if (container === undefined) return;
    if (deletionTimestamp !== undefined) return end(pod);
    await bind(pod);
    if (container.image.includes(missing)) return sayOnce(pod, { key: 'waiting', value: waiting(container) });
    if (!container.image.includes(ours)) return sayOnce(pod, { key: 'ready', value: up(container, true) });
    let process = running.get(uid);
    if (process === undefined || process.hasEnded) {
      process = await start(pod, container);
      running.set(uid, process);
    }
    const answer = await fetch(`http://${process.health}/readyz`).catch(() => undefined);
    const isReady = answer?.status === 200;
    await sayOnce(pod, { key: String(isReady), value: up(container, isReady) });
  };

  /** One that takes its time to end holds up no other. */
  const busy = new Map<string, Promise<void>>();
  const run = async (): Promise<void> => {
    while (!stopped) {
      for (const pod of await client.list<AgentPod>('/api/v1/pods')) {
        const { uid } = pod.metadata;
        if (busy.has(uid)) continue;
        // A pod may go while it is looked after.
        const following = follow(pod).catch(() => undefined);
        busy.set(
          uid,
          following.finally(() => busy.delete(uid)),
        );
      }
      await sleep(200);
    }
    await Promise.all(busy.values());
  };
  const looping = run();

  return {
    programs: () => [...running.values()].map(({ program }) => program),
    stop: async () => {
      stopped = true;
      await looping;
      for (const { program, directory } of running.values()) {
        program.signal('SIGKILL');
        await program.ended;
        rmSync(directory, { recursive: true, force: true });
      }
    },
  };
};
