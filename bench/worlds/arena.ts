import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from '../../test/envtest/client.ts';
import { pollEvery, waitFor } from '../../test/envtest/waiting.ts';
import { graceMs, thresholdAt } from '../harness/garden-config.ts';
import { type ArenaShoot, type ArenaShootOptions, openShoot } from './arena-shoot.ts';
import { type ArenaKubelets, startKubelets } from './kubelets.ts';
import { ManagedKcm } from './managed-kcm.ts';

/** KCM's default `--node-monitor-period`. */
const monitorPeriodMs = 5_000;
const observeEveryMs = 500;
/** A little more than the time that KCM takes to mark the nodes that it has judged. */
const slackMs = 2_000;

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
  const nodes = new Set<string>();
  let firstUnknownAt: number | undefined;
  const watching = pollEvery(observeEveryMs, async () => {
    for (const node of await unknownNodes(shoot)) nodes.add(node);
    if (nodes.size > 0) firstUnknownAt ??= Date.now();
  });
  return { seen: () => ({ unknown: nodes.size, firstUnknownAt }), stop: () => watching.stop() };
};

/** Result of one outage. Times are milliseconds since the epoch. */
export interface OutageRun {
  readonly shoot: string;
  readonly isProtected: boolean;
  /** Last renewal of the node that fell silent first. */
  readonly silentSince: number;
  readonly thresholdAt: number;
  /** Time at which KCM's process had ended; absent if it was not stopped. */
  readonly stoppedAt?: number;
  /** Earliest time at which KCM may mark a node. KCM marks later, because it counts from the time at which it saw a renewal and checks periodically. */
  readonly markableAt: number;
  readonly firstUnknownAt?: number;
  readonly nodes: number;
  /** Number of nodes that turned Unknown at any time. */
  readonly unknown: number;
}

/** Result of the return of a shoot's kubelets. */
export interface Restoration {
  /** Time from the return of the first kubelet until no resource was held; absent if that took too long. */
  readonly restoredAfterMs?: number;
  readonly firstUnknownAt?: number;
  /** Number of nodes that turned Unknown since the beginning of the outage. */
  readonly unknown: number;
}

export interface Conditions {
  /** Error of each node's clock. */
  readonly clockShiftMs: (node: number) => number;
  /** True if a fifth of the prober's requests to the shoot's API server fails. */
  readonly answersFail: boolean;
  /** True if the public address breaks with the kubelets' connections, as with a load balancer; otherwise it answers, as behind a NAT gateway. */
  readonly addressBreaks: boolean;
}

export interface Return {
  /** Delay of the second half of the kubelets; 0 if all return at once. */
  readonly lateMs: number;
  /** True to wait until the restarted KCM would have marked every node that has not returned. */
  readonly untilKcmHasJudged: boolean;
  /** Time limit of the restoration. */
  readonly withinMs: number;
}

export interface ArenaOptions extends ArenaShootOptions {
  /** Factor of all times. */
  readonly scale: number;
  /** Latest observed `spec.replicas` of the namespace's KCM in the seed. */
  readonly replicas: (namespace: string) => number | undefined;
}

/** A shoot with a real control plane that goes through one outage after the other. */
export class Arena {
  readonly name: string;
  readonly #options: ArenaOptions;
  readonly #shoot: ArenaShoot;
  readonly #times: { readonly graceMs: number; readonly monitorPeriodMs: number };
  #kubelets: ArenaKubelets | undefined;
  #kcm: ManagedKcm | undefined;
  #watch: ReturnType<typeof watchNodes> | undefined;
  #addressBreaks = false;

  constructor(options: ArenaOptions, shoot: ArenaShoot) {
    this.name = options.name;
    this.#options = options;
    this.#shoot = shoot;
    const { scale } = options;
    this.#times = { graceMs: graceMs * scale, monitorPeriodMs: monitorPeriodMs * scale };
  }

  /** Makes everything healthy: nodes ready, leases renewed, KCM running, unmarked Deployments with replicas. No prober may run. */
  async prepare({ clockShiftMs, answersFail, addressBreaks }: Conditions): Promise<void> {
    const { isProtected, replicas, scale } = this.#options;
    const { namespace, nodes, controlPlane } = this.#shoot;
    await this.#endOutage();
    this.#addressBreaks = addressBreaks;
    const clockShiftsMs = nodes.map((_, index) => clockShiftMs(index));
    this.#kubelets = await startKubelets({ shoot: controlPlane.client, nodes, clockShiftsMs, scale });
    await this.#shoot.reset(answersFail);
    this.#kcm = new ManagedKcm({
      ...this.#times,
      shoot: controlPlane,
      replicas: () => (isProtected ? replicas(namespace) : undefined),
    });
    await this.#kcm.start();
    await waitFor({ what: `${this.name}: KCM wanted and all nodes ready`, withinMs: 30_000 }, async () => {
      const isWanted = !isProtected || replicas(namespace) === 1;
      return isWanted && (await unknownNodes(controlPlane.client)).length === 0;
    });
  }

  /** Cuts the kubelets off, stops KCM when its Deployment is at 0, and observes until KCM would have marked every node. */
  async race(): Promise<OutageRun> {
    const { kubelets, kcm } = this.#prepared();
    const { isProtected, scale } = this.#options;
    if (this.#addressBreaks) this.#shoot.breakAddress();
    const renewals = await kubelets.cut();
    this.#watch = watchNodes(this.#shoot.controlPlane.client);
    kcm.follow();
    const over = this.#judgedAt(Math.max(...renewals));
    await sleep(over - Date.now());
    const silentSince = Math.min(...renewals);
    return {
      shoot: this.name,
      isProtected,
      silentSince,
      thresholdAt: thresholdAt(renewals, scale),
      stoppedAt: kcm.firstStoppedAt(),
      markableAt: silentSince + this.#times.graceMs,
      nodes: renewals.length,
      ...this.#watch.seen(),
    };
  }

  /** Reconnects the kubelets after a race, and waits until no resource is held. */
  async reconnect({ lateMs, untilKcmHasJudged, withinMs }: Return): Promise<Restoration> {
    const { kubelets, kcm, watch } = this.#prepared();
    const { nodes } = this.#shoot;
    const half = lateMs === 0 ? nodes.length : Math.ceil(nodes.length / 2);
    const backAt = Date.now();
    kubelets.restore(nodes.slice(0, half));
    const restoring = this.#untilRestored(withinMs);
    await sleep(lateMs);
    kubelets.restore(nodes.slice(half));
    const restoredAt = await restoring;
    const startedAt = kcm.lastStartedAt();
    if (untilKcmHasJudged && startedAt !== undefined) {
      await sleep(this.#judgedAt(startedAt) - Date.now());
    }
    const restoredAfterMs = restoredAt === undefined ? undefined : restoredAt - backAt;
    return { restoredAfterMs, ...(watch?.seen() ?? { unknown: 0 }) };
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
    return since + this.#times.graceMs + 2 * this.#times.monitorPeriodMs + slackMs;
  }

  async #endOutage(): Promise<void> {
    await this.#kubelets?.cut();
    await this.#watch?.stop();
    this.#watch = undefined;
    await this.#kcm?.end();
  }

  async #untilRestored(withinMs: number): Promise<number | undefined> {
    const deadline = Date.now() + withinMs;
    while (Date.now() < deadline) {
      if (await this.#shoot.isRestored()) return Date.now();
      await sleep(observeEveryMs);
    }
    return undefined;
  }
}

/** Starts the shoot's control plane and, if the shoot is to be protected, creates its objects in the seed. */
export const openArena = async (options: ArenaOptions): Promise<Arena> => new Arena(options, await openShoot(options));
