import { CommandError, type CommandContext, isLed, leaseNameOf } from '../process/index.ts';
import { childObject, decodeMeta, decodeObject, optionalInteger, optionalList } from '../kubernetes/api/decode.ts';
import { ApiError, unlessNotFound } from '../kubernetes/api/errors.ts';
import { listCall } from '../kubernetes/api/list-call.ts';
import { podOfHolder } from '../kubernetes/api/pod-of-holder.ts';
import { resourcePath } from '../kubernetes/api/resource-path.ts';
import { getElectionLease, isHeldByOurs } from '../kubernetes/leaderelection/index.ts';
import type { LeaderLease, Replica, SeedObjects } from './judge.ts';

/** How the objects of a seed are read. */
export type ReadingContext = Pick<CommandContext, 'client' | 'clock' | 'options'>;

/** Where a prober is: its namespace, and the labels of its pods. */
export interface ProberPlace {
  readonly namespace: string;
  /** Label selector. */
  readonly selector: string;
}

const defaultHealthPort = 9644;

const timeOf = (microseconds: number | undefined): string | undefined =>
  microseconds === undefined ? undefined : new Date(Math.floor(microseconds / 1_000)).toISOString();

/** Reads the leader Lease. Without one, the holder is empty. Rejects with an ApiError. */
const readLease = async (namespace: string, context: ReadingContext): Promise<LeaderLease> => {
  const call = getElectionLease({ namespace, name: leaseNameOf('prober') });
  const answer = await unlessNotFound(context.client.call(call, context.options));
  if (answer === undefined) return { holder: '', isFresh: false };
  const { value, date } = answer;
  const { holder, acquireTime } = value;
  const isFresh = isLed(value, date ?? context.clock.now());
  return { holder, since: timeOf(acquireTime), isFresh, isForeign: isFresh && !isHeldByOurs(value) };
};

const decodeReplica = (json: unknown, path: string): Replica & { readonly isGoing: boolean } => {
  const object = decodeObject(json, path);
  const { name, deleting } = decodeMeta(object, path);
  const containers = optionalList(childObject(object, path, 'spec').containers, `${path}.spec.containers`) ?? [];
  const [healthPort = defaultHealthPort] = containers.flatMap((one, index) => {
    const at = `${path}.spec.containers[${String(index)}].ports`;
    return (optionalList(decodeObject(one, at).ports, at) ?? []).flatMap((port) => {
      const { name: portName, containerPort } = decodeObject(port, at);
      return portName === 'health' ? (optionalInteger(containerPort, `${at}.containerPort`) ?? []) : [];
    });
  });
  const conditions = optionalList(childObject(object, path, 'status').conditions, `${path}.status.conditions`) ?? [];
  const isReady = conditions.some((one) => {
    const { type, status } = decodeObject(one, `${path}.status.conditions`);
    return type === 'Ready' && status === 'True';
  });
  return { pod: name, isReady, healthPort, isGoing: deleting };
};

const listReplicas = ({ namespace, selector: labelSelector }: ProberPlace) =>
  listCall({
    path: resourcePath({ apiVersion: 'v1', resource: 'pods', namespace }),
    query: { labelSelector },
    decode: decodeReplica,
  });

/** Turns an ApiError or a CommandError into a text, so that the caller can continue. Rejects with all other errors. */
export const orProblem = async <T>(what: string, work: Promise<T>): Promise<{ value?: T; problem?: string }> => {
  try {
    return { value: await work };
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof CommandError)) throw error;
    return { problem: `${what}: ${error.message}` };
  }
};

/** Reads the leader Lease, and the pods of the prober by their labels. */
export const readSeedObjects = async (
  { namespace, selector }: ProberPlace,
  context: ReadingContext,
): Promise<SeedObjects> => {
  const { client, options } = context;
  const [lease, pods] = await Promise.all([
    orProblem('the leader Lease', readLease(namespace, context)),
    orProblem('the pods of the prober', client.call(listReplicas({ namespace, selector }), options)),
  ]);
  const replicas = pods.value?.value.filter(({ isGoing }) => !isGoing);
  return {
    lease: lease.value,
    replicas: replicas?.map(({ isGoing: _, ...replica }) => replica),
    problems: [pods.problem, lease.problem].filter((problem) => problem !== undefined),
  };
};

/** Returns the pod that holds the Lease, and the other ready pods. Without a known leader, the first ready pod stands for it. */
export const replicasOf = ({ lease, replicas = [] }: SeedObjects): readonly Replica[] => {
  const holder = podOfHolder(lease?.holder ?? '');
  const leader = replicas.filter(({ pod }) => pod === holder);
  return [...leader, ...replicas.filter(({ pod, isReady }) => pod !== holder && isReady)];
};
