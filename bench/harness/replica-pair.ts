import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../src/ports/clock.ts';
import type { ControlPlane } from '../../test/envtest/control-plane.ts';
import { electionRules, seedRules } from '../../test/envtest/shoot.ts';
import { type SwallowingProxy, startSwallowingProxy } from '../../test/envtest/swallowing-proxy.ts';
import { waitFor } from '../../test/envtest/waiting.ts';
import { type RunningTarget, type Target, startTarget } from './target.ts';

/** Fault of the leading replica: SIGKILL, SIGSTOP, or the loss of all its packets to and from the seed. */
export type LeaderFault = 'killed' | 'stopped' | 'cut off';

/** Two replicas of a program that elect a leader. Each reaches the seed through its own proxy. */
export interface ReplicaPair {
  /** Output of both replicas. */
  output(): string;
  /** Throws if a replica has ended by itself too often. */
  check(): void;
  /** Applies the fault to the replica that holds the Lease. */
  injectFault(fault: LeaderFault): Promise<void>;
  /** Ends the fault: the replica continues, or is restarted if it has ended. Resolves when both run and one of them renews the Lease. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

export interface PairOptions {
  readonly target: Target;
  readonly config: string;
  readonly seed: ControlPlane;
  readonly directory: string;
  /** Factor of all times. */
  readonly scale: number;
  readonly clock: Clock;
}

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/garden/leases/dwd-prober-leader-election';
/** client-go's defaults, which gardenlet does not change. */
const election = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
/** Delay before a restart, because a kubelet restarts a container without back-off the first time. */
const restartAfterMs = 1_000;
const mostRestarts = 5;
const limitMs = 120_000;

const flagsOf = (scale: number): readonly string[] => {
  const ms = (value: number): string => `${String(value * scale)}ms`;
  const times = [
    `--leader-elect-lease-duration=${ms(election.leaseDurationMs)}`,
    `--leader-elect-renew-deadline=${ms(election.renewDeadlineMs)}`,
    `--leader-elect-retry-period=${ms(election.retryPeriodMs)}`,
  ];
  // The Go program by default listens on a port for its profiles, which a second replica on the same host would find in use.
  return ['--enable-leader-election=true', '--pprof-bind-addr=0', ...(scale === 1 ? [] : times)];
};

/** One replica. It is restarted when it ends, as a kubelet restarts a container, but not while its fault lasts. */
class Replica {
  readonly name: string;
  readonly #options: PairOptions;
  readonly #kubeconfig: string;
  readonly #proxy: SwallowingProxy;
  readonly #stop = new AbortController();
  readonly #outputs: (() => string)[] = [];
  readonly #running: Promise<void>;
  #program: RunningTarget;
  #fault: LeaderFault | undefined;
  #restarts = 0;

  constructor(
    name: string,
    options: PairOptions,
    way: { readonly proxy: SwallowingProxy; readonly kubeconfig: string },
  ) {
    this.name = name;
    this.#options = options;
    this.#proxy = way.proxy;
    this.#kubeconfig = way.kubeconfig;
    this.#program = this.#start();
    this.#running = this.#keepRunning();
  }

  output(): string {
    return this.#outputs.map((output) => output()).join('');
  }

  check(): void {
    if (this.#restarts > mostRestarts) this.#program.check();
  }

  isRunning(): boolean {
    return this.#fault === undefined && !this.#program.hasEnded();
  }

  /** True if its log shows that it leads under this identity. */
  leadsAs(identity: string): boolean {
    const isIt = (line: string): boolean => line.includes('started leading') && line.includes(identity);
    return this.output().split('\n').some(isIt);
  }

  injectFault(fault: LeaderFault): void {
    this.#fault = fault;
    if (fault === 'killed') this.#program.signal('SIGKILL');
    else if (fault === 'stopped') this.#program.signal('SIGSTOP');
    else this.#proxy.cutOff();
  }

  heal(): void {
    if (this.#fault === 'stopped') this.#program.signal('SIGCONT');
    if (this.#fault === 'cut off') this.#proxy.heal();
    this.#fault = undefined;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#program.stop();
    await this.#running;
    await this.#proxy.stop();
  }

  #start(): RunningTarget {
    const { target, config, directory, scale } = this.#options;
    const own = join(directory, `${this.name}-${String(this.#outputs.length)}`);
    mkdirSync(own, { recursive: true });
    const start = { component: 'prober' as const, config, kubeconfig: this.#kubeconfig, directory: own };
    const program = startTarget(target, { ...start, flags: flagsOf(scale) });
    this.#outputs.push(() => program.output());
    return program;
  }

  async #keepRunning(): Promise<void> {
    while (await this.#isDue()) {
      this.#restarts += 1;
      this.#program = this.#start();
    }
  }

  /** Resolves when the program has ended; true if it must be restarted. */
  async #isDue(): Promise<boolean> {
    await this.#program.ended;
    try {
      do await this.#options.clock.sleep(restartAfterMs, this.#stop.signal);
      while (this.#fault !== undefined);
    } catch {
      return false;
    }
    return this.#restarts <= mostRestarts;
  }
}

interface ElectionLease {
  readonly spec: { readonly holderIdentity?: string; readonly renewTime?: string };
}

const openWay = async (seed: ControlPlane, user: string) => {
  const proxy = await startSwallowingProxy(seed);
  const { text } = await seed.kubeconfigFor({ user, rules: [...seedRules, ...electionRules] });
  return { proxy, kubeconfig: text.replace(seed.url, `https://${seed.host}:${String(proxy.port)}`) };
};

/** Starts both replicas, the second when the first leads: so the leader is known even if the logs do not show it. */
export const startPair = async (options: PairOptions): Promise<ReplicaPair> => {
  const { seed, clock } = options;
  await seed.client.delete(leasePath);
  const readLease = async (): Promise<ElectionLease['spec']> => (await seed.client.get<ElectionLease>(leasePath)).spec;
  const replicas = [new Replica('one', options, await openWay(seed, 'dwd-one'))];
  const output = (): string => replicas.map((replica) => `--- ${replica.name}\n${replica.output()}`).join('\n');
  const untilHeld = (what: string, isHeld: (lease: ElectionLease['spec']) => boolean) =>
    waitFor({ what, withinMs: limitMs, everyMs: 200, detail: output }, async () => {
      const { status } = await seed.client.request({ method: 'GET', path: leasePath });
      const lease = status === 404 ? {} : await readLease();
      return isHeld(lease) ? lease : undefined;
    });
  const stop = async (): Promise<void> => {
    await Promise.all(replicas.map((replica) => replica.stop()));
  };
  try {
    const { holderIdentity: first } = await untilHeld('a leader', ({ holderIdentity = '' }) => holderIdentity !== '');
    replicas.push(new Replica('two', options, await openWay(seed, 'dwd-two')));
    return {
      output,
      check: () => replicas.forEach((replica) => replica.check()),
      injectFault: async (fault) => {
        const { holderIdentity = '' } = await readLease();
        const leader = replicas.find((replica) => replica.leadsAs(holderIdentity));
        (leader ?? replicas[holderIdentity === first ? 0 : 1])?.injectFault(fault);
      },
      heal: async () => {
        const since = clock.now();
        for (const replica of replicas) replica.heal();
        const isWhole = ({ renewTime = '' }: ElectionLease['spec']): boolean =>
          Date.parse(renewTime) > since && replicas.every((replica) => replica.isRunning());
        await untilHeld('two replicas, of which one renews', isWhole);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
