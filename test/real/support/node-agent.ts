import type { ControlPlane } from '../../envtest/control-plane.ts';
import { type Polling, pollEvery } from '../../envtest/waiting.ts';
import { type AgentPod, type Container, type PodProgram, startPodProgram } from './pod-program.ts';
import type { Program } from './program.ts';

/** Images with this in their name run the built program. The agent reports the pods of all others as ready. */
const ours = 'dependency-watchdog';
/** Images with this in their name cannot be pulled: their pods stay pending. */
const missing = 'missing';

const podPath = ({ metadata: { namespace, name } }: AgentPod): string => `/api/v1/namespaces/${namespace}/pods/${name}`;

/** Returns the status of a pod whose container runs, or has ended, as that of a Job does. */
const statusOf = ({ name, image }: Container, isReady: boolean, exitCode: number | undefined) => {
  const now = new Date().toISOString();
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  const state =
    exitCode === undefined ? { running: { startedAt: now } } : { terminated: { exitCode, reason, finishedAt: now } };
  const ended = exitCode === 0 ? 'Succeeded' : 'Failed';
  return {
    phase: exitCode === undefined ? 'Running' : ended,
    conditions: ['Ready', 'ContainersReady'].map((type) => ({ type, status: isReady ? 'True' : 'False' })),
    containerStatuses: [{ name, image, imageID: '', ready: isReady, restartCount: 0, state }],
  };
};

/** True if the pod has this status but for times. */
const isTold = ({ status: known = {} }: AgentPod, { phase, conditions }: ReturnType<typeof statusOf>): boolean =>
  known.phase === phase &&
  conditions.every(({ type, status }) => known.conditions?.some((one) => one.type === type && one.status === status));

export interface NodeAgent extends Polling {
  /** Returns the programs of the running pods. */
  programs(): readonly Program[];
}

/**
 * Starts scheduler and kubelet of a control plane without nodes. They bind every pod, run the built program for each pod with our image, write the
 * status of pods, and end the program with SIGTERM when its pod is deleted.
 */
export const startNodeAgent = (seed: ControlPlane): NodeAgent => {
  const { client } = seed;
  const running = new Map<string, PodProgram>();
  /** Work on one pod, by UID: a pod that takes long to end does not delay the others. */
  const busy = new Map<string, Promise<void>>();

  const end = async (pod: AgentPod): Promise<void> => {
    await running.get(pod.metadata.uid)?.stop('SIGTERM');
    running.delete(pod.metadata.uid);
    await client.delete(`${podPath(pod)}?gracePeriodSeconds=0`);
  };
  const bind = (pod: AgentPod): Promise<unknown> => {
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node' };
    const metadata = { name: pod.metadata.name, namespace: pod.metadata.namespace };
    return client.create(`${podPath(pod)}/binding`, { apiVersion: 'v1', kind: 'Binding', metadata, target });
  };
  const follow = async (pod: AgentPod): Promise<void> => {
    const { uid, deletionTimestamp } = pod.metadata;
    const [container] = pod.spec.containers;
    if (deletionTimestamp !== undefined) return end(pod);
    if (pod.spec.nodeName === undefined) await bind(pod);
    if (container === undefined || container.image.includes(missing)) return;
    const write = async (isReady: boolean, exitCode?: number): Promise<void> => {
      const status = statusOf(container, isReady, exitCode);
      if (!isTold(pod, status)) await client.patch(`${podPath(pod)}/status`, { status });
    };
    if (!container.image.includes(ours)) return write(true);
    let program = running.get(uid);
    if (program?.exitCode() !== undefined) {
      if (pod.spec.restartPolicy === 'Never') return write(false, program.exitCode());
      program = undefined;
    }
    program ??= await startPodProgram(seed, pod, container);
    running.set(uid, program);
    await write(await program.isReady());
  };

  const polling = pollEvery(200, async () => {
    for (const pod of await client.list<AgentPod>('/api/v1/pods')) {
      const { uid } = pod.metadata;
      if (busy.has(uid)) continue;
      // The pod may be deleted at any time. The next list shows the remaining work.
      const work = follow(pod).catch(() => undefined);
      busy.set(
        uid,
        work.finally(() => busy.delete(uid)),
      );
    }
  });
  return {
    programs: () => [...running.values()].map(({ program }) => program),
    stop: async () => {
      await polling.stop();
      await Promise.all(busy.values());
      for (const program of running.values()) await program.stop('SIGKILL');
    },
  };
};
