import type { Random } from '../../src/ports/random.ts';
import { type ControlPlane, startControlPlane } from '../../test/envtest/control-plane.ts';
import {
  type Workload,
  createDeployment,
  createMachines,
  createNodes,
  createProtectedShoot,
  shootRules,
} from '../../test/envtest/shoot.ts';
import { startFailingProxy } from './failing-proxy.ts';

export const kubeConfigSecretName = 'shoot-access-prober';
export const kcmName = 'kube-controller-manager';
const deployments = [kcmName, 'machine-controller-manager', 'cluster-autoscaler'];
const heldAnnotation = 'dependency-watchdog.gardener.cloud/meltdown-protection-active';

export interface ArenaShootOptions {
  readonly seed: ControlPlane;
  readonly name: string;
  readonly nodes: number;
  /** True if the shoot's objects are in the seed, so that a prober protects it. */
  readonly isProtected: boolean;
  readonly random: Random;
}

/** A shoot's control plane, and its objects in the seed. */
export interface ArenaShoot {
  readonly namespace: string;
  readonly nodes: readonly string[];
  readonly controlPlane: ControlPlane;
  /** Resets the shoot's objects in the seed: unmarked Deployments with replicas, and the prober's kubeconfig. No prober may run. */
  reset(answersFail: boolean): Promise<void>;
  /** True if all its Deployments have replicas and no mark. */
  isRestored(): Promise<boolean>;
  stop(): Promise<void>;
}

const isUp = ({ metadata, spec }: Workload): boolean =>
  spec.replicas > 0 && metadata.annotations?.[heldAnnotation] === undefined;

/** Starts the control plane and, if the shoot is to be protected, creates its objects in the seed. */
export const openShoot = async ({
  seed,
  name,
  nodes: count,
  isProtected,
  random,
}: ArenaShootOptions): Promise<ArenaShoot> => {
  const { client } = seed;
  const namespace = `shoot--race--${name}`;
  const deploymentsPath = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const nodes = Array.from({ length: count }, (_, index) => `${name}-${String(index)}`);
  const controlPlane = await startControlPlane({ name, kinds: [] });
  await createNodes(controlPlane.client, nodes);
  const shoot = { namespace, nodes, controlPlane };
  if (!isProtected) {
    return { ...shoot, reset: async () => undefined, isRestored: async () => true, stop: controlPlane.stop };
  }
  const { text: direct } = await controlPlane.kubeconfigFor({ user: 'prober', rules: shootRules });
  const failing = await startFailingProxy(controlPlane, random);
  await createProtectedShoot(seed, { namespace, kubeconfig: direct, secretName: kubeConfigSecretName });
  await createMachines(client, { namespace, nodes });
  await createDeployment(client, namespace, { name: 'kube-apiserver', replicas: 1 });
  return {
    ...shoot,
    reset: async (answersFail) => {
      for (const deployment of deployments) {
        await client.delete(`${deploymentsPath}/${deployment}`);
        await createDeployment(client, namespace, { name: deployment, replicas: 1 });
      }
      const kubeconfig = Buffer.from(answersFail ? failing.kubeconfig : direct).toString('base64');
      await client.patch(`/api/v1/namespaces/${namespace}/secrets/${kubeConfigSecretName}`, { data: { kubeconfig } });
    },
    isRestored: async () => (await client.list<Workload>(deploymentsPath)).every(isUp),
    stop: async () => {
      await failing.stop();
      await controlPlane.stop();
    },
  };
};
