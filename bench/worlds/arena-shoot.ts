import { type ControlPlane, startControlPlane } from '../../test/envtest/control-plane.ts';
import { kubeconfigText } from '../../test/envtest/kubeconfig.ts';
import {
  type Workload,
  createDeployment,
  createKubeconfigSecret,
  createMachines,
  createNodes,
  createProtectedShoot,
  getDeployment,
  shootRules,
} from '../../test/envtest/shoot.ts';
import { type ProxyResponse, startShootProxy } from '../../test/envtest/shoot-proxy.ts';
import { openWay } from '../harness/replica-pair.ts';

export const kubeConfigSecretName = 'shoot-access-prober';
export const externalSecretName = 'shoot-access-external';
const kcmName = 'kube-controller-manager';
const deployments = [kcmName, 'machine-controller-manager', 'cluster-autoscaler'];
const heldAnnotation = 'dependency-watchdog.gardener.cloud/meltdown-protection-active';
const failingShare = 0.2;

export interface ArenaShootOptions {
  readonly seed: ControlPlane;
  readonly name: string;
  readonly nodes: number;
  /** False: hibernation is enabled by its Cluster, so that no prober protects it. */
  readonly isProtected: boolean;
}

/** A shoot's control plane, and its objects in the seed. */
export interface ArenaShoot {
  readonly nodes: readonly string[];
  readonly controlPlane: ControlPlane;
  /** Resets the shoot's objects in the seed: unmarked Deployments with replicas, and the prober's kubeconfigs. No prober may run. */
  reset(answersFail: boolean): Promise<void>;
  /** From now on the public address, of the second kubeconfig, refuses connections. */
  breakAddress(): void;
  /** Reads `spec.replicas` of its KCM's Deployment. */
  readonly kcmReplicas: () => Promise<number>;
  /** True if all its Deployments have replicas and no mark. */
  isRestored(): Promise<boolean>;
  stop(): Promise<void>;
}

const isUp = ({ metadata, spec }: Workload): boolean =>
  spec.replicas > 0 && metadata.annotations?.[heldAnnotation] === undefined;

const serverError: ProxyResponse = {
  status: 500,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 500 })),
};

/** Starts a proxy that makes a fifth of the requests fail: half of them get a 500 response, for the others the connection breaks. */
const startFailingProxy = async (shoot: ControlPlane) => {
  const front = await startShootProxy(shoot, await shoot.authority.issueServer([shoot.host]), (ask) => {
    const draw = Math.random();
    if (draw >= failingShare) return ask();
    if (draw < failingShare / 2) return Promise.resolve(serverError);
    return Promise.reject(new Error('the connection breaks'));
  });
  // TLS ends at the proxy, so a client certificate would not reach the API server.
  const account = { namespace: 'kube-system', name: 'prober', rules: shootRules };
  const { token } = await shoot.serviceAccountKubeconfig(account);
  const { caPem, name } = shoot;
  const kubeconfig = kubeconfigText({ name, server: front.url, caPem, user: 'prober', credentials: { token } });
  return { kubeconfig, stop: () => front.stop() };
};

/** Starts the control plane, and creates the shoot's objects in the seed. */
export const openShoot = async ({ seed, name, isProtected, ...options }: ArenaShootOptions): Promise<ArenaShoot> => {
  const { client } = seed;
  const namespace = `shoot--race--${name}`;
  const deploymentsPath = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const nodes = Array.from({ length: options.nodes }, (_, index) => `${name}-${String(index)}`);
  const controlPlane = await startControlPlane({ name, kinds: [] });
  await createNodes(controlPlane.client, nodes);
  const { text: direct } = await controlPlane.kubeconfigFor({ user: 'prober', rules: shootRules });
  const failing = await startFailingProxy(controlPlane);
  const external = await openWay(controlPlane, { user: 'external', rules: [] });
  const shoot = isProtected ? {} : { hibernation: { enabled: true } };
  await createProtectedShoot(seed, { namespace, kubeconfig: direct, secretName: kubeConfigSecretName, shoot });
  await createKubeconfigSecret(client, { namespace, name: externalSecretName, kubeconfig: external.kubeconfig });
  await createMachines(client, { namespace, nodes });
  await createDeployment(client, namespace, { name: 'kube-apiserver', replicas: 1 });
  return {
    ...{ nodes, controlPlane },
    reset: async (answersFail) => {
      external.proxy.heal();
      for (const deployment of deployments) {
        await client.delete(`${deploymentsPath}/${deployment}`);
        await createDeployment(client, namespace, { name: deployment, replicas: 1 });
      }
      const kubeconfig = Buffer.from(answersFail ? failing.kubeconfig : direct).toString('base64');
      await client.patch(`/api/v1/namespaces/${namespace}/secrets/${kubeConfigSecretName}`, { data: { kubeconfig } });
    },
    breakAddress: () => external.proxy.refuseNew(),
    kcmReplicas: async () => (await getDeployment(client, namespace, kcmName)).spec.replicas,
    isRestored: async () => (await client.list<Workload>(deploymentsPath)).every(isUp),
    stop: async () => {
      await external.proxy.stop();
      await failing.stop();
      await controlPlane.stop();
    },
  };
};
