import type { Call } from '../../src/kubernetes/api/call.ts';
import {
  decodeMeta,
  decodeObject,
  optionalList,
  optionalObject,
  optionalString,
} from '../../src/kubernetes/api/decode.ts';
import type { CallOptions, KubeClient } from '../../src/kubernetes/api/kube.ts';
import { type Lease, listNodeLeases } from '../../src/kubernetes/api/lease.ts';
import { listCall } from '../../src/kubernetes/api/list-call.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type Placed, listDeployments, listFaults, listMachineNames, listPods, listWeeded } from './seed-calls.ts';
import { kubeApiserver, toldDeployments } from './setting.ts';
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

const listNodes = listCall({ path: '/api/v1/nodes', decode: decodeNode });

const nodeSnapshot = (node: ReturnType<typeof decodeNode>, leases: readonly Lease[]): NodeSnapshot => {
  const renewTime = leases.find(({ name }) => name === node.name)?.renewTime;
  return { ...node, ...(renewTime === undefined ? {} : { renewedAt: renewTime / 1_000 }) };
};

const nodesIn = async (shoot: KubeClient, options: CallOptions): Promise<readonly NodeSnapshot[]> => {
  const [nodes, leases] = await Promise.all([shoot.call(listNodes, options), shoot.call(listNodeLeases, options)]);
  return nodes.value.map((node) => nodeSnapshot(node, leases.value));
};

/** The seed's objects by namespace. */
const lookAtSeed = async (seed: KubeClient, options: CallOptions) => {
  const ask = async <T>(call: Call<readonly Placed<T>[]>): Promise<(namespace: string) => readonly T[]> => {
    const { value: items } = await seed.call(call, options);
    return (namespace) => items.filter((item) => item.namespace === namespace).map(({ value }) => value);
  };
  const [faults, deployments, machines, pods, weeded] = await Promise.all([
    ask(listFaults),
    ask(listDeployments),
    ask(listMachineNames),
    ask(listPods),
    ask(listWeeded),
  ]);
  return { faults, deployments, machines, pods, weeded };
};

const hasApiServer = (deployments: readonly DeploymentSnapshot[]): boolean =>
  deployments.some(({ name, readyReplicas }) => name === kubeApiserver && readyReplicas > 0);

/** Asks the API servers for everything that the story is told from. Rejects with an ApiError. */
export const observe = async (
  { seed, shoots }: Watched,
  { clock, since, signal }: { readonly clock: Clock; readonly since: number; readonly signal: AbortSignal },
): Promise<Snapshot> => {
  const options = { signal, timeoutMs: requestTimeoutMs };
  const objects = await lookAtSeed(seed, options);
  const look = async ({ name, namespace, client }: WatchedShoot): Promise<ShootSnapshot> => {
    const deployments = objects
      .deployments(namespace)
      .filter((deployment) => toldDeployments.includes(deployment.name));
    const answers = hasApiServer(deployments);
    const [faults = { isCut: false, isEtcdDown: false }] = objects.faults(namespace);
    return {
      name,
      ...faults,
      answers,
      nodes: answers ? await nodesIn(client, options) : [],
      deployments,
      machines: objects.machines(namespace),
      pods: objects.pods(namespace),
      weeded: objects.weeded(namespace).filter((pod) => pod !== undefined),
    };
  };
  const seen = await Promise.all(shoots.map(look));
  return { at: clock.monotonic() - since, wall: clock.now(), shoots: seen };
};
