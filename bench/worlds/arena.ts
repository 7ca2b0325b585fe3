import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from '../../test/envtest/client.ts';
import { pollEvery, waitFor } from '../../test/envtest/waiting.ts';
import { graceMs } from '../harness/garden-config.ts';
import { type ArenaShoot, type ArenaShootOptions, openShoot } from './arena-shoot.ts';
import { type ArenaKubelets, startKubelets } from './kubelets.ts';
import { ManagedKcm } from './managed-kcm.ts';

/** KCM's default `--node-monitor-period`. */
const monitorPeriodMs = 5_000;
const observeEveryMs = 500;
/** A little more than the time that KCM takes to mark the nodes that it has judged. */
const slackMs = 2_000;
/** Time by which the second half of the kubelets returns late. */
const lateMs = 60_000;
/** Allows for the landing of a minute and the delay of half a minute before machine-controller-manager is scaled up. */
const restorationLimitMs = 240_000;

/** Names of the nodes whose Ready condition KCM has set to Unknown. */
const unknownNodes = async (shoot: TestClient): Promise<readonly string[]> => {
  interface Node {
    readonly metadata: { readonly name: string };
    readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  }
  const nodes = await shoot.list<Node>('/api/v1/nodes');
  const isUnknown = ({ status }: Node): boolean =>
    status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'Unknown') === true;
  return nodes.filter(isUnknown).map(({ metadata }) => metadata.name);
};

/** Lists the nodes periodically and records those that are Unknown. Its `stop` rejects if a list failed. */
const watchNodes = (shoot: TestClient) => {
  const unknown = new Set<string>();
  const watching = pollEvery(observeEveryMs, async () => {
    for (const node of await unknownNodes(shoot)) unknown.add(node);
  });
  return { unknown, stop: () => watching.stop() };
};

/** Result of one outage. */
export interface OutageRun {
  readonly shoot: string;
  readonly isProtected: boolean;
  /** Last renewal of the node that fell silent first, in milliseconds since the epoch. */
  readonly silentSince: number;
  /**
   * Time from the end of KCM's process to the earliest time at which KCM may mark a node, in milliseconds; absent if it was not stopped. KCM marks later, because
   * it counts from the time at which it saw a renewal and checks periodically. Negative if it ended too late.
   */
  readonly marginMs?: number;
  readonly nodes: number;
  /** Number of nodes that turned Unknown at any time. */
  readonly unknown: number;
}

/** Result of the return of a shoot's kubelets. */
export interface Restoration {
  /** Time from the return of the first kubelet until no resource was held; absent if that took too long. */
  readonly restoredAfterMs?: number;
  /** Number of nodes that turned Unknown since the beginning of the outage. */
  readonly unknown: number;
}

export interface Conditions {
  /** True if every other node's clock is five minutes fast, and the others are five minutes slow. */
  readonly areClocksWrong: boolean;
  /** True if a fifth of the prober's requests to the shoot's API server fails. */
  readonly answersFail: boolean;
  /** True if the public address breaks with the kubelets' connections, as with a load balancer; otherwise it answers, as behind a NAT gateway. */
  readonly addressBreaks: boolean;
}

export interface ArenaOptions extends ArenaShootOptions {
  /** Factor of all times. */
  readonly scale: number;
}

/** A shoot with a real control plane that goes through one outage after the other. */
export class Arena {
  readonly name: string;
  readonly #options: ArenaOptions;
  readonly #shoot: ArenaShoot;
  #kubelets: ArenaKubelets | undefined;
  #kcm: ManagedKcm | undefined;
  #watch: ReturnType<typeof watchNodes> | undefined;
  #addressBreaks = false;

  constructor(options: ArenaOptions, shoot: ArenaShoot) {
    this.name = options.name;
    this.#options = options;
    this.#shoot = shoot;
  }

  /** Makes everything healthy: nodes ready, leases renewed, KCM running, unmarked Deployments with replicas. No prober may run. */
  async prepare({ areClocksWrong, answersFail, addressBreaks }: Conditions): Promise<void> {
    const { scale } = this.#options;
    const { nodes, controlPlane, kcmReplicas } = this.#shoot;
    await this.#endOutage();
    this.#addressBreaks = addressBreaks;
    this.#kubelets = await startKubelets({ shoot: controlPlane.client, nodes, scale, areClocksWrong });
    await this.#shoot.reset(answersFail);
    const times = { graceMs: graceMs * scale, monitorPeriodMs: monitorPeriodMs * scale };
    this.#kcm = new ManagedKcm({ ...times, shoot: controlPlane, replicas: kcmReplicas });
    await this.#kcm.start();
    const wait = { what: `${this.name}: all nodes ready` };
    await waitFor(wait, async () => (await unknownNodes(controlPlane.client)).length === 0);
  }

  /** Cuts the kubelets off, stops KCM when its Deployment is at 0, and observes until KCM would have marked every node. */
  async race(): Promise<OutageRun> {
    const { kubelets, kcm } = this.#prepared();
    const { isProtected, scale } = this.#options;
    if (this.#addressBreaks) this.#shoot.breakAddress();
    const renewals = await kubelets.cut();
    const watch = watchNodes(this.#shoot.controlPlane.client);
    this.#watch = watch;
    kcm.follow();
    await sleep(this.#judgedAt(Math.max(...renewals)) - Date.now());
    const silentSince = Math.min(...renewals);
    const stoppedAt = kcm.firstStoppedAt();
    const marginMs = stoppedAt === undefined ? undefined : silentSince + graceMs * scale - stoppedAt;
    const { name: shoot } = this;
    return { shoot, isProtected, silentSince, marginMs, nodes: renewals.length, unknown: watch.unknown.size };
  }

  /**
   * Reconnects the kubelets after a race, or half of them and the others a minute later, and waits until no resource is held; then, if some were late, until the
   * restarted KCM would have marked every node that has not returned.
   */
  async reconnect(isHalfLate: boolean): Promise<Restoration> {
    const { kubelets, kcm, watch } = this.#prepared();
    const { nodes } = this.#shoot;
    const { scale } = this.#options;
    const half = isHalfLate ? Math.ceil(nodes.length / 2) : nodes.length;
    const backAt = Date.now();
    kubelets.restore(nodes.slice(0, half));
    const wait = { what: 'restored', withinMs: restorationLimitMs * scale + graceMs, everyMs: observeEveryMs };
    const restoring = waitFor(wait, async () => (await this.#shoot.isRestored()) && Date.now() - backAt).catch(
      () => undefined,
    );
    if (isHalfLate) await sleep(lateMs * scale);
    kubelets.restore(nodes.slice(half));
    const restoredAfterMs = await restoring;
    const startedAt = kcm.lastStartedAt();
    if (isHalfLate && startedAt !== undefined) await sleep(this.#judgedAt(startedAt) - Date.now());
    return { restoredAfterMs, unknown: watch?.unknown.size ?? 0 };
  }

  async stop(): Promise<void> {
    await this.#endOutage();
    await this.#shoot.stop();
  }

  #prepared() {
    const [kubelets, kcm] = [this.#kubelets, this.#kcm];
    if (kubelets === undefined || kcm === undefined) throw new Error(`${this.name}: prepare it first`);
    return { kubelets, kcm, watch: this.#watch };
  }

  /** Time at which KCM has marked nodes that last renewed at `since`. KCM may see the renewal one period late, and the end of the grace period another. */
  #judgedAt(since: number): number {
    return since + (graceMs + 2 * monitorPeriodMs) * this.#options.scale + slackMs;
  }

  async #endOutage(): Promise<void> {
    await this.#kubelets?.cut();
    await this.#watch?.stop();
    this.#watch = undefined;
    await this.#kcm?.end();
  }
}

/** Starts the shoot's control plane, and creates its objects in the seed. */
export const openArena = async (options: ArenaOptions): Promise<Arena> => new Arena(options, await openShoot(options));
