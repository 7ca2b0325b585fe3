import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../envtest/control-plane.ts';
import { type AgentPod, type PodStatusChange, endedStatus, podPath, runningStatus } from './agent-pod.ts';
import { PodProgram } from './pod-program.ts';
import type { Program } from './program.ts';

/** Images with this in their name run the built program. The agent reports the pods of all others as ready. */
const ours = 'dependency-watchdog';
/** Images with this in their name cannot be pulled: their pods stay pending. */
const missing = 'missing';
const pollMs = 200;

/**
 * Scheduler and kubelet of a control plane without nodes. Binds every pod, runs the built program for each pod with our image, writes the
 * status of pods, and ends the program with SIGTERM when its pod is deleted.
 */
export class NodeAgent {
  readonly #seed: ControlPlane;
  readonly #running = new Map<string, PodProgram>();
  /** Key of the last status that was written, by UID of the pod. */
  readonly #written = new Map<string, string>();
  /** Work on one pod, by UID: a pod that takes long to end does not delay the others. */
  readonly #busy = new Map<string, Promise<void>>();
  readonly #loop: Promise<void>;
  #isStopped = false;

  private constructor(seed: ControlPlane) {
    this.#seed = seed;
    this.#loop = this.#run();
  }

  static start(seed: ControlPlane): NodeAgent {
    return new NodeAgent(seed);
  }

  /** Returns the programs of the running pods. */
  programs(): readonly Program[] {
    return [...this.#running.values()].map(({ program }) => program);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#loop;
    for (const running of this.#running.values()) await running.stop('SIGKILL');
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      for (const pod of await this.#seed.client.list<AgentPod>('/api/v1/pods')) {
        const { uid } = pod.metadata;
        if (this.#busy.has(uid)) continue;
        // The pod may be deleted at any time. The next list shows the remaining work.
        const work = this.#follow(pod).catch(() => undefined);
        this.#busy.set(
          uid,
          work.finally(() => this.#busy.delete(uid)),
        );
      }
      await sleep(pollMs);
    }
    await Promise.all(this.#busy.values());
  }

  async #follow(pod: AgentPod): Promise<void> {
    const [container] = pod.spec.containers;
    if (container === undefined) return;
    if (pod.metadata.deletionTimestamp !== undefined) return this.#end(pod);
    await this.#bind(pod);
    if (container.image.includes(missing)) return;
    if (!container.image.includes(ours)) return this.#write(pod, runningStatus(container, true));
    const { uid } = pod.metadata;
    let running = this.#running.get(uid);
    if (running?.exitCode !== undefined && pod.spec.restartPolicy === 'Never') {
      return this.#write(pod, endedStatus(container, running.exitCode));
    }
    if (running?.exitCode !== undefined || running === undefined) {
      running = await PodProgram.start(this.#seed, pod, container);
      this.#running.set(uid, running);
    }
    await this.#write(pod, runningStatus(container, await running.isReady()));
  }

  async #bind(pod: AgentPod): Promise<void> {
    if (pod.spec.nodeName !== undefined) return;
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node' };
    const metadata = { name: pod.metadata.name, namespace: pod.metadata.namespace };
    await this.#seed.client.create(`${podPath(pod)}/binding`, { apiVersion: 'v1', kind: 'Binding', metadata, target });
  }

  /** Writes a status unless it is the last one that was written. */
  async #write(pod: AgentPod, { key, status }: PodStatusChange): Promise<void> {
    const { uid } = pod.metadata;
    if (this.#written.get(uid) === key) return;
    this.#written.set(uid, key);
    await this.#seed.client.patch(`${podPath(pod)}/status`, { status }).catch(() => undefined);
  }

  async #end(pod: AgentPod): Promise<void> {
    const { uid } = pod.metadata;
    await this.#running.get(uid)?.stop('SIGTERM');
    this.#running.delete(uid);
    await this.#seed.client.delete(`${podPath(pod)}?gracePeriodSeconds=0`);
  }
}
