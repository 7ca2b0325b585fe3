import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RbacRule } from '../../test/envtest/access.ts';
import type { ControlPlane } from '../../test/envtest/control-plane.ts';
import { electionRules, seedRules } from '../../test/envtest/shoot.ts';
import { startSwallowingProxy } from '../../test/envtest/swallowing-proxy.ts';
import { waitFor } from '../../test/envtest/waiting.ts';
import { type Target, startTarget } from './target.ts';

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
const limitMs = 120_000;

/** Leader election with client-go's default times, which gardenlet does not change. */
const flagsOf = (scale: number): readonly string[] => {
  const ms = (value: number): string => `${String(value * scale)}ms`;
  return [
    '--enable-leader-election=true',
    `--leader-elect-lease-duration=${ms(15_000)}`,
    `--leader-elect-renew-deadline=${ms(10_000)}`,
    `--leader-elect-retry-period=${ms(2_000)}`,
    // The Go program by default listens on a port for its profiles, which a second replica on the same host would find in use.
    '--pprof-bind-addr=0',
  ];
};

/** Starts a proxy before the API server. The kubeconfig, of a user with these rights, connects through it. */
export const openWay = async (
  to: ControlPlane,
  { user, rules }: { readonly user: string; readonly rules: readonly RbacRule[] },
) => {
  const proxy = await startSwallowingProxy(to);
  const { text } = await to.kubeconfigFor({ user, rules });
  return { proxy, kubeconfig: text.replace(to.url, `https://${to.host}:${String(proxy.port)}`) };
};

const startReplica = async (name: string, { target, config, seed, directory, scale }: PairOptions) => {
  const { proxy, kubeconfig } = await openWay(seed, { user: `dwd-${name}`, rules: [...seedRules, ...electionRules] });
  const own = join(directory, name);
  mkdirSync(own);
  const options = { component: 'prober', config, kubeconfig, directory: own, flags: flagsOf(scale) } as const;
  const program = await startTarget(target, options);
  return {
    ...program,
    output: () => `--- ${name}\n${program.output()}`,
    injectFault: (fault: LeaderFault): void => {
      if (fault === 'cut off') proxy.cutOff();
      else program.signal(fault === 'killed' ? 'SIGKILL' : 'SIGSTOP');
    },
    stop: async (): Promise<void> => {
      await program.stop();
      await proxy.stop();
    },
  };
};

/** Starts both replicas, the second when the first leads: so the leader is known even if the logs do not show it. */
export const startPair = async (options: PairOptions): Promise<ReplicaPair> => {
  const { client } = options.seed;
  await client.delete(leasePath);
  const replicas = [await startReplica('one', options)];
  const output = (): string => replicas.map((replica) => replica.output()).join('\n');
  const stop = async (): Promise<void> => {
    await Promise.all(replicas.map((replica) => replica.stop()));
  };
  const holder = async (): Promise<string> => {
    const { status, body } = await client.request({ method: 'GET', path: leasePath });
    return status === 404 ? '' : ((body as { readonly spec: { holderIdentity?: string } }).spec.holderIdentity ?? '');
  };
  try {
    const wait = { what: 'a leader', withinMs: limitMs, everyMs: 500, detail: output };
    const first = await waitFor(wait, async () => (await holder()) || undefined);
    replicas.push(await startReplica('two', options));
    return {
      ...{ output, stop },
      check: () => {
        if (replicas.every((replica) => replica.hasEnded())) replicas[0]?.check();
      },
      injectFault: async (fault) => replicas[(await holder()) === first ? 0 : 1]?.injectFault(fault),
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
