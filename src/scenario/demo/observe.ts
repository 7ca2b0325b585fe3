import {
  activeAnnotation,
  type Call,
  decodeList,
  decodeMachine,
  decodeMeta,
  decodeObject,
  decodeScalable,
  type Lease,
  listNodeLeases,
  optionalList,
  optionalObject,
  optionalString,
  replicasAnnotation,
  type ScalableObject,
} from '../../domain/index.ts';
import type { Clock, KubeClient } from '../../ports/index.ts';
import { kubeletsAnnotation } from '../../sim/index.ts';
import type { DeploymentSnapshot, NodeSnapshot, ShootSnapshot, Snapshot } from './snapshot.ts';

/** A shoot as the narrator reaches it. */
export interface WatchedShoot {
  readonly name: string;
  readonly namespace: string;
  readonly client: KubeClient;
}

export interface Watched {
  readonly seed: KubeClient;
  readonly shoots: readonly WatchedShoot[];
}

const requestTimeoutMs = 5_000;

const decodeNode = (json: unknown, path: string): { readonly name: string; readonly ready: string } => {
  const object = decodeObject(json, path);
  const status = optionalObject(object.status, `${path}.status`) ?? {};
  const conditions = (optionalList(status.conditions, `${path}.status.conditions`) ?? []).map((item) =>
    decodeObject(item, `${path}.status.conditions`),
  );
  const ready = conditions.find(({ type }) => type === 'Ready');
  return { name: decodeMeta(object, path).name, ready: optionalString(ready?.status, `${path}.status`) ?? 'absent' };
};

const listNodes: Call<readonly ReturnType<typeof decodeNode>[]> = {
  method: 'GET',
  path: '/api/v1/nodes',
  decode: decodeList(decodeNode),
};

const listDeployments = (namespace: string): Call<readonly ScalableObject[]> => ({
  method: 'GET',
  path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
  decode: decodeList(decodeScalable),
});

const listMachineNames = (namespace: string): Call<readonly string[]> => ({
  method: 'GET',
  path: `/apis/machine.sapcloud.io/v1alpha1/namespaces/${namespace}/machines`,
  decode: decodeList((json, path) => decodeMachine(json, path).nodeName ?? ''),
});

const nodeSnapshot = (node: ReturnType<typeof decodeNode>, leases: readonly Lease[]): NodeSnapshot => {
  const renewTime = leases.find(({ name }) => name === node.name)?.renewTime;
  return { ...node, ...(renewTime === undefined ? {} : { renewedAt: Date.parse(renewTime) }) };
};

const deploymentSnapshot = ({ meta, specReplicas = 1, readyReplicas = 0 }: ScalableObject): DeploymentSnapshot => {
  const stored = meta.annotations[replicasAnnotation];
  return {
    name: meta.name,
    replicas: specReplicas,
    readyReplicas,
    active: Object.hasOwn(meta.annotations, activeAnnotation),
    ...(stored === undefined ? {} : { stored }),
  };
};

/** Asks the API servers for everything that the story is told from. Rejects with an ApiError. */
export const observe = async (
  { seed, shoots }: Watched,
  { clock, since, signal }: { readonly clock: Clock; readonly since: number; readonly signal: AbortSignal },
): Promise<Snapshot> => {
  const options = { signal, timeoutMs: requestTimeoutMs };
  const look = async ({ name, namespace, client }: WatchedShoot): Promise<ShootSnapshot> => {
    const [nodes, leases, deployments, machines] = await Promise.all([
      client.call(listNodes, options),
      client.call(listNodeLeases, options),
      seed.call(listDeployments(namespace), options),
      seed.call(listMachineNames(namespace), options),
    ]);
    return {
      name,
      nodes: nodes.value.map((node) => nodeSnapshot(node, leases.value)),
      deployments: deployments.value.map(deploymentSnapshot),
      machines: machines.value,
    };
  };
  const seen = await Promise.all(shoots.map(look));
  return { at: clock.monotonic() - since, wall: clock.now(), shoots: seen };
};

/** Cuts the kubelets of a shoot off, or mends that, through the annotation on its Cluster, as anybody with kubectl can. */
export const setKubelets = (namespace: string, state: 'cut' | 'connected'): Call<undefined> => ({
  method: 'PATCH',
  path: `/apis/extensions.gardener.cloud/v1alpha1/clusters/${namespace}`,
  contentType: 'application/merge-patch+json',
  repeatable: true,
  body: { metadata: { annotations: { [kubeletsAnnotation]: state === 'cut' ? 'cut' : null } } },
  decode: () => undefined,
});
