import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RbacRule } from '../../test/envtest/access.ts';
import type { ControlPlane } from '../../test/envtest/control-plane.ts';
import { electionRules, seedRules } from '../../test/envtest/shoot.ts';
import { startSwallowingProxy } from '../../test/envtest/swallowing-proxy.ts';
import { waitFor } from '../../test/envtest/waiting.ts';
import { type RunningTarget, type Target, startTarget } from './target.ts';

/** Fault of the leading replica: SIGKILL, SIGSTOP, or the loss of all its packets to and from the seed. */
export type LeaderFault = 'killed' | 'stopped' | 'cut off';

/** Two replicas of a program that elect a leader. Each reaches the seed through its own proxy. */
export interface ReplicaPair {
  /** Output of both replicas. */
  output(): string;
  /** Throws if both replicas have ended. */
  check(): void;
  /** Applies the fault to the replica that holds the Lease. */
  injectFault(fault: LeaderFault): Promise<void>;
  /** Ends the fault: the replica continues, or is restarted if it has ended, as a kubelet restarts a container. Resolves when both run and one of them renews the Lease. */
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
}

const leasePath = '/apis/coordination.k8s.io/v1/namespaces/garden/leases/dwd-prober-leader-election';
/** client-go's defaults, which gardenlet does not change. */
const election = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
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

interface ElectionLease {
  readonly spec: { readonly holderIdentity?: string; readonly renewTime?: string };
}

/** Starts a proxy before the API server. The kubeconfig, of a user with these rights, connects through it. */
export const openWay = async (
  to: ControlPlane,
  { user, rules }: { readonly user: string; readonly rules: readonly RbacRule[] },
) => {
  const proxy = await startSwallowingProxy(to);
  const { text } = await to.kubeconfigFor({ user, rules });
  return { proxy, kubeconfig: text.replace(to.url, `https://${to.host}:${String(proxy.port)}`) };
};

/** Starts one replica. */
const startReplica = async (name: string, { target, config, seed, directory, scale }: PairOptions) => {
  const { proxy, kubeconfig } = await openWay(seed, { user: `dwd-${name}`, rules: [...seedRules, ...electionRules] });
  const start = (run: number): RunningTarget => {
    const own = join(directory, `${name}-${String(run)}`);
    mkdirSync(own, { recursive: true });
    return startTarget(target, { component: 'prober', config, kubeconfig, directory: own, flags: flagsOf(scale) });
  };
  let program = start(0);
  let isCutOff = false;
  const runs = [program];
  return {
    output: () => [`--- ${name}`, ...runs.map((run) => run.output())].join('\n'),
    hasEnded: () => program.hasEnded(),
    check: () => program.check(),
    injectFault: (fault: LeaderFault): void => {
      if (fault === 'killed') program.signal('SIGKILL');
      else if (fault === 'stopped') program.signal('SIGSTOP');
      else {
        isCutOff = true;
        proxy.cutOff();
      }
    },
    heal: (): void => {
      program.signal('SIGCONT');
      // It breaks connections.
      if (isCutOff) proxy.heal();
      isCutOff = false;
    },
    restart: (): void => {
      program = start(runs.length);
      runs.push(program);
    },
    stop: async (): Promise<void> => {
      await program.stop();
      await proxy.stop();
    },
  };
};

/** Starts both replicas, the second when the first leads: so the leader is known even if the logs do not show it. */
export const startPair = async (options: PairOptions): Promise<ReplicaPair> => {
  const { seed } = options;
  await seed.client.delete(leasePath);
  const replicas = [await startReplica('one', options)];
  const output = (): string => replicas.map((replica) => replica.output()).join('\n');
  const readLease = async (): Promise<ElectionLease['spec']> => (await seed.client.get<ElectionLease>(leasePath)).spec;
  const untilHeld = (what: string, isHeld: (lease: ElectionLease['spec']) => boolean) =>
    waitFor({ what, withinMs: limitMs, everyMs: 500, detail: output }, async () => {
      const { status } = await seed.client.request({ method: 'GET', path: leasePath });
      const lease = status === 404 ? {} : await readLease();
      return isHeld(lease) ? lease : undefined;
    });
  const stop = async (): Promise<void> => {
    await Promise.all(replicas.map((replica) => replica.stop()));
  };
  try {
    const { holderIdentity: first } = await untilHeld('a leader', ({ holderIdentity = '' }) => holderIdentity !== '');
    replicas.push(await startReplica('two', options));
    return {
      output,
      check: () => {
        if (replicas.every((replica) => replica.hasEnded())) replicas[0]?.check();
      },
      injectFault: async (fault) => replicas[(await readLease()).holderIdentity === first ? 0 : 1]?.injectFault(fault),
      heal: async () => {
        const since = Date.now();
        for (const replica of replicas) replica.heal();
        await untilHeld('two replicas, of which one renews', ({ renewTime = '' }) => {
          const ended = replicas.filter((replica) => replica.hasEnded());
          for (const replica of ended) replica.restart();
          return ended.length === 0 && Date.parse(renewTime) > since;
        });
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
