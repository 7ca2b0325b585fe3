import type { Clock } from '../../src/ports/clock.ts';
import type { Random } from '../../src/ports/random.ts';
import { type ControlPlane, startControlPlane } from '../../test/envtest/control-plane.ts';
import { startControllerManager } from '../../test/envtest/controller-manager.ts';
import { startDeploymentController } from '../../test/envtest/deployment-controller.ts';
import {
  createDeployment,
  createMachines,
  createNodes,
  createProtectedShoot,
  shootRules,
} from '../../test/envtest/shoot.ts';
import { waitFor } from '../../test/envtest/waiting.ts';
import { graceMs, thresholdAt } from '../harness/garden-config.ts';
import { type Kubelets, countUnknown, startKubelets } from './kubelets.ts';

export const kubeConfigSecretName = 'shoot-access-prober';
const nodesPerShoot = 20;
/** KCM's default `--node-monitor-period`. */
const monitorPeriodMs = 5_000;
const deployments = ['kube-controller-manager', 'machine-controller-manager', 'cluster-autoscaler'];

/** What became of one outage. Times are milliseconds since the epoch. */
export interface Run {
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
  readonly unknown: number;
}

/** A shoot on its way from one outage to the next. */
export interface Arena {
  readonly namespace: string;
  /** All up again: nodes ready, kubelets renewing, KCM running, Deployments with replicas and without marks. */
  prepare(): Promise<void>;
  /** Cuts the kubelets off, stops KCM when the seed says so, and looks until KCM would have given up every node. */
  race(): Promise<Run>;
  stop(): Promise<void>;
}

export interface ArenaOptions {
  readonly seed: ControlPlane;
  readonly name: string;
  /** Whether the seed knows of the shoot. */
  readonly isProtected: boolean;
  readonly clock: Clock;
  readonly random: Random;
  /** `spec.replicas` of its KCM in the seed, as it was seen last. */
  readonly replicas: (namespace: string) => number | undefined;
}

type ControllerManager = Awaited<ReturnType<typeof startControllerManager>>;
const never = new AbortController().signal;

const recreateDeployments = async ({ client }: ControlPlane, namespace: string): Promise<void> => {
  for (const name of deployments) {
    await client.delete(`/apis/apps/v1/namespaces/${namespace}/deployments/${name}`);
    await createDeployment(client, namespace, { name, replicas: 1 });
  }
};

const announce = async (
  { seed, namespace, nodes }: { seed: ControlPlane; namespace: string; nodes: readonly string[] },
  shoot: ControlPlane,
): Promise<void> => {
  const access = await shoot.kubeconfigFor({ user: 'prober', rules: shootRules });
  await createProtectedShoot(seed, { namespace, kubeconfig: access.text });
  await createMachines(seed.client, { namespace, nodes });
};

/** Stops KCM's process as soon as its Deployment has no replicas left. Resolves with the time when it was gone. */
const enforce = async (
  manager: ControllerManager,
  isWanted: () => boolean,
  { clock }: ArenaOptions,
): Promise<number> => {
  while (isWanted()) await clock.sleep(10, never);
  await manager.stop({ signal: 'SIGKILL' });
  return clock.now();
};

/** Starts the shoot's control plane and, where it is to be protected, makes it known in the seed. */
export const openArena = async (options: ArenaOptions): Promise<Arena> => {
  const { seed, name, isProtected, clock, random } = options;
  const namespace = `shoot--race--${name}`;
  const nodes = Array.from({ length: nodesPerShoot }, (_, index) => `${name}-${String(index)}`);
  const shoot = await startControlPlane({ name, kinds: [] });
  await createNodes(shoot.client, nodes);
  if (isProtected) await announce({ seed, namespace, nodes }, shoot);
  const controller = isProtected ? startDeploymentController(seed.client, namespace) : undefined;
  let manager: ControllerManager | undefined;
  let kubelets: Kubelets | undefined;

  const prepare = async (): Promise<void> => {
    await manager?.stop({ signal: 'SIGKILL' });
    kubelets = await startKubelets({ shoot: shoot.client, nodes, clock, random });
    if (isProtected) await recreateDeployments(seed, namespace);
    manager = await startControllerManager(shoot, {
      nodeMonitorGracePeriodSeconds: graceMs / 1_000,
      nodeMonitorPeriodSeconds: monitorPeriodMs / 1_000,
    });
    await waitFor({ what: `${name}: KCM wanted and all nodes ready`, withinMs: 30_000 }, async () => {
      const isWanted = !isProtected || options.replicas(namespace) === 1;
      return isWanted && (await countUnknown(shoot.client)) === 0 ? true : undefined;
    });
  };

  const race = async (): Promise<Run> => {
    if (kubelets === undefined || manager === undefined) throw new Error(`${name}: prepare it first`);
    const renewals = await kubelets.cut();
    const silentSince = Math.min(...renewals);
    // KCM sees the last renewal up to a period late, and its end up to another.
    const over = Math.max(...renewals) + graceMs + 2 * monitorPeriodMs + 2_000;
    let stoppedAt: number | undefined;
    if (isProtected) {
      const stopped = enforce(manager, () => options.replicas(namespace) !== 0 && clock.now() < over, options);
      void stopped.then((at) => (stoppedAt = at < over ? at : undefined));
    }
    let firstUnknownAt: number | undefined;
    let unknown = 0;
    while (clock.now() < over) {
      await clock.sleep(200, never);
      unknown = Math.max(unknown, await countUnknown(shoot.client));
      if (unknown > 0) firstUnknownAt ??= clock.now();
    }
    return {
      shoot: name,
      isProtected,
      silentSince,
      thresholdAt: thresholdAt(renewals),
      ...(stoppedAt === undefined ? {} : { stoppedAt }),
      markableAt: silentSince + graceMs,
      ...(firstUnknownAt === undefined ? {} : { firstUnknownAt }),
      nodes: renewals.length,
      unknown,
    };
  };

  return {
    namespace,
    prepare,
    race,
    stop: async () => {
      await controller?.stop();
      await manager?.stop({ signal: 'SIGKILL' });
      await shoot.stop();
    },
  };
};
