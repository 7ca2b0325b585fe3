import type { Clock } from '../../src/ports/clock.ts';
import { waitFor } from '../../test/envtest/waiting.ts';
import { graceMs, thresholdAt } from '../harness/garden-config.ts';
import { never } from '../harness/part.ts';
import { type ArenaShoot, type ArenaShootOptions, openShoot } from './arena-shoot.ts';
import { type ArenaKubelets, startKubelets } from './kubelets.ts';
import { ManagedKcm } from './managed-kcm.ts';
import { type NodeWatch, unknownNodes, watchNodes } from './node-watch.ts';

/** KCM's default `--node-monitor-period`. */
const monitorPeriodMs = 5_000;
const lookEveryMs = 500;
/** A little more than what KCM takes to mark what it has judged. */
const slackMs = 2_000;

/** What became of one outage. Times are milliseconds since the epoch. */
export interface OutageRun {
  readonly shoot: string;
  readonly isProtected: boolean;
  /** Last renewal of the node that fell silent first. */
  readonly silentSince: number;
  readonly thresholdAt: number;
  /** When KCM's process was gone; absent where nobody stopped it. */
  readonly stoppedAt?: number;
  /** The earliest that KCM may mark a node: it measures from when it saw a renewal, which was later, and looks now and then only. */
  readonly markableAt: number;
  readonly firstUnknownAt?: number;
  readonly nodes: number;
  /** Nodes that turned Unknown at any time. */
  readonly unknown: number;
}

/** What became of a shoot whose kubelets came back. */
export interface Restoration {
  /** From the return of the first kubelet until nothing was held any more; absent where that took too long. */
  readonly restoredAfterMs?: number;
  readonly firstUnknownAt?: number;
  /** Since the beginning of the outage. */
  readonly unknown: number;
}

export interface Conditions {
  /** How far the clock of each node is wrong. */
  readonly clockShiftMs: (node: number) => number;
  /** A fifth of the answers that the prober gets from the shoot's API server fails. */
  readonly answersFail: boolean;
}

export interface Return {
  /** How much later the second half of the kubelets comes back; 0: all at once. */
  readonly lateMs: number;
  /** Goes on until KCM, started again, would have given up every node that is not back. */
  readonly untilKcmHasJudged: boolean;
  /** For the restoration. */
  readonly withinMs: number;
}

export interface ArenaOptions extends ArenaShootOptions {
  /** Of all times. */
  readonly scale: number;
  readonly clock: Clock;
  /** `spec.replicas` of its KCM in the seed, as it was seen last. */
  readonly replicas: (namespace: string) => number | undefined;
}

/** A shoot with a real control plane, on its way from one outage to the next. */
export class Arena {
  readonly name: string;
  readonly #options: ArenaOptions;
  readonly #shoot: ArenaShoot;
  readonly #times: { readonly graceMs: number; readonly monitorPeriodMs: number };
  #kubelets: ArenaKubelets | undefined;
  #kcm: ManagedKcm | undefined;
  #watch: NodeWatch | undefined;

  constructor(options: ArenaOptions, shoot: ArenaShoot) {
    this.name = options.name;
    this.#options = options;
    this.#shoot = shoot;
    const { scale } = options;
    this.#times = { graceMs: graceMs * scale, monitorPeriodMs: monitorPeriodMs * scale };
  }

  /** All up again: nodes ready, kubelets renewing, KCM running, Deployments with replicas and without marks. No prober may run. */
  async prepare({ clockShiftMs, answersFail }: Conditions): Promise<void> {
    const { isProtected, replicas, scale, clock, random } = this.#options;
    const { namespace, nodes, controlPlane } = this.#shoot;
    await this.#endOutage();
    const clockShiftsMs = nodes.map((_, index) => clockShiftMs(index));
    this.#kubelets = await startKubelets({ shoot: controlPlane.client, nodes, clockShiftsMs, scale, clock, random });
    await this.#shoot.reset(answersFail);
    this.#kcm = new ManagedKcm({
      ...this.#times,
      shoot: controlPlane,
      clock,
      replicas: () => (isProtected ? replicas(namespace) : undefined),
    });
    await this.#kcm.start();
    await waitFor({ what: `${this.name}: KCM wanted and all nodes ready`, withinMs: 30_000 }, async () => {
      const isWanted = !isProtected || replicas(namespace) === 1;
      return isWanted && (await unknownNodes(controlPlane.client)).length === 0;
    });
  }

  /** Cuts the kubelets off, stops KCM when the seed says so, and looks until KCM would have given up every node. */
  async race(): Promise<OutageRun> {
    const { kubelets, kcm } = this.#prepared();
    const { clock, isProtected, scale } = this.#options;
    const renewals = await kubelets.cut();
    this.#watch = watchNodes(this.#shoot.controlPlane.client, clock);
    kcm.follow();
    const over = this.#judgedAt(Math.max(...renewals));
    await clock.sleep(over - clock.now(), never);
    const stoppedAt = kcm.firstStoppedAt();
    const silentSince = Math.min(...renewals);
    return {
      shoot: this.name,
      isProtected,
      silentSince,
      thresholdAt: thresholdAt(renewals, scale),
      ...(stoppedAt === undefined ? {} : { stoppedAt }),
      markableAt: silentSince + this.#times.graceMs,
      nodes: renewals.length,
      ...this.#watch.seen(),
    };
  }

  /** After a race: lets the kubelets through again, and waits until nothing is held any more. */
  async reconnect({ lateMs, untilKcmHasJudged, withinMs }: Return): Promise<Restoration> {
    const { kubelets, kcm, watch } = this.#prepared();
    const { clock } = this.#options;
    const { nodes } = this.#shoot;
    const half = lateMs === 0 ? nodes.length : Math.ceil(nodes.length / 2);
    const backAt = clock.now();
    kubelets.restore(nodes.slice(0, half));
    const restoring = this.#untilRestored(withinMs);
    await clock.sleep(lateMs, never);
    kubelets.restore(nodes.slice(half));
    const restoredAt = await restoring;
    const startedAt = kcm.lastStartedAt();
    if (untilKcmHasJudged && startedAt !== undefined) {
      await clock.sleep(this.#judgedAt(startedAt) - clock.now(), never);
    }
    const restored = restoredAt === undefined ? {} : { restoredAfterMs: restoredAt - backAt };
    return { ...restored, ...(watch?.seen() ?? { unknown: 0 }) };
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

  /** When KCM has given up whom it heard of at `since` for the last time: it hears a period late, and its end up to another. */
  #judgedAt(since: number): number {
    return since + this.#times.graceMs + 2 * this.#times.monitorPeriodMs + slackMs;
  }

  async #endOutage(): Promise<void> {
    await this.#kubelets?.cut();
    await this.#watch?.end();
    this.#watch = undefined;
    await this.#kcm?.end();
  }

  async #untilRestored(withinMs: number): Promise<number | undefined> {
    const { clock } = this.#options;
    const deadline = clock.now() + withinMs;
    while (clock.now() < deadline) {
      if (await this.#shoot.isRestored()) return clock.now();
      await clock.sleep(lookEveryMs, never);
    }
    return undefined;
  }
}

/** Starts the shoot's control plane and, where it is to be protected, makes it known in the seed. */
export const openArena = async (options: ArenaOptions): Promise<Arena> => new Arena(options, await openShoot(options));
