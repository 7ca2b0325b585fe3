import { unlessNotFound } from '../kubernetes/api/errors.ts';
import { authority } from '../kubernetes/transport/index.ts';
import { type ClusterCommand, type CommandContext, onCluster } from '../process/index.ts';
import type { ProberStatus } from './state/schema.ts';
import { type ReadProberStatus, readStatusOfReplica } from './ask-prober.ts';
import { NoSuchShoot, findShoot, isNamespace } from './state/find-shoot.ts';
import { defaultConfiguration, installedConfiguration } from './installed-settings.ts';
import { findNamedShoot } from './find-named-shoot.ts';
import { readHeld } from './read-held.ts';
import { type ProberPlace, orProblem, readSeedObjects, replicasOf } from './read-objects.ts';
import { type HeldObjects, type SeedObjects, type SeedStatus, judgeSeed } from './judge.ts';

/** Request for the status: its prober and its shoots. */
export interface LeaderQuery extends ProberPlace {
  /** Namespace of a control plane, or PROJECT/NAME. Absent for all shoots. */
  readonly shoot?: string;
  /** Timeout of requests to the prober, in milliseconds. */
  readonly leaderTimeoutMs: number;
}

export type StatusRun = ClusterCommand & LeaderQuery;

export const noSeed =
  'this is no seed: it does not serve Clusters (extensions.gardener.cloud), and no prober is in this namespace; check --context, --kubeconfig and --namespace';

/**
 * True if there is nothing of a prober, neither a leader nor a pod nor a configuration, and the API server does not serve Gardener's Clusters, as that of a seed
 * does. Rejects with an ApiError or a CommandError.
 */
export const isNoSeed = async (
  { lease, replicas }: SeedObjects,
  { namespace }: Pick<ProberPlace, 'namespace'>,
  { client, options }: Pick<CommandContext, 'client' | 'options'>,
): Promise<boolean> => {
  if (lease?.holder !== '' || replicas?.length !== 0) return false;
  if ((await installedConfiguration(namespace, { client, options })).isInstalled) return false;
  const path = '/apis/extensions.gardener.cloud/v1alpha1/clusters';
  const call = { method: 'GET', path, query: { limit: '1' }, decode: () => true } as const;
  return (await unlessNotFound(client.call(call, options))) === undefined;
};

/** Requests the status. For a requested shoot it has the details that only `?shoot=` returns. Rejects with an ApiError. */
const ask = async (
  prober: ReadProberStatus,
  { shoot, leaderTimeoutMs }: LeaderQuery,
  { clock, signal }: CommandContext,
): Promise<ProberStatus> => {
  const until = clock.monotonic() + leaderTimeoutMs;
  const first = await prober(shoot !== undefined && isNamespace(shoot) ? shoot : undefined, {
    signal,
    timeoutMs: leaderTimeoutMs,
  });
  if (shoot === undefined || (isNamespace(shoot) && first.shoots.length > 0)) return first;
  const rest = () => ({ signal, timeoutMs: Math.max(1, until - clock.monotonic()) });
  const { shoots } = isNamespace(shoot) ? await prober(undefined, rest()) : first;
  const found = findShoot(shoots, shoot);
  if (found === undefined) throw new NoSuchShoot(shoot, shoots);
  return prober(found.namespace, rest());
};

interface Answered {
  /** Response of the leader, else of another replica. Undefined without one. */
  readonly answer: ProberStatus | undefined;
  /** Reason why the leader has not responded, a sentence. */
  readonly problem: string | undefined;
}

/**
 * Asks the first, and the others unless it leads: without a readable Lease nobody knows which one does. A hot standby has judged every shoot by itself, too; a cold
 * one sees none.
 */
const answerOf = async (
  probers: readonly ReadProberStatus[],
  query: LeaderQuery,
  context: CommandContext,
): Promise<Answered> => {
  const [first, ...others] = probers;
  if (first === undefined) return { answer: undefined, problem: undefined };
  const asking = (prober: ReadProberStatus) => orProblem('the prober', ask(prober, query, context));
  const asked = await asking(first);
  if (asked.value?.leads === true) return { answer: asked.value, problem: undefined };
  const all = [asked, ...(await Promise.all(others.map(asking)))];
  const answers = all.flatMap(({ value }) => value ?? []);
  const answer = answers.find(({ leads }) => leads) ?? answers.find(({ standby }) => standby === 'hot');
  const problem = all.find((one) => one.problem !== undefined)?.problem;
  const onlyCold = 'the prober: only a cold standby responded, which sees no shoot';
  return { answer, problem: problem ?? (answer === undefined ? onlyCold : undefined) };
};

/** Reads held resources by the installed configuration, as `dwd release` does. Uses Gardener's defaults if that cannot be read. */
const readHeldHere = async (namespace: string, context: CommandContext): Promise<HeldObjects> => {
  const installed = await orProblem('the configuration of the prober', installedConfiguration(namespace, context));
  const { settings } = installed.value ?? defaultConfiguration();
  const held = await readHeld(settings, namespace, context);
  return installed.problem === undefined ? held : { ...held, problems: [installed.problem, ...held.problems] };
};

export interface LeaderAnswer extends Answered {
  readonly objects: SeedObjects;
}

/** Finds the replicas by the objects of the seed, and requests the status of the leader. Never rejects with an ApiError: a failed read is a problem in the result. */
export const askLeader = async (query: LeaderQuery, context: CommandContext): Promise<LeaderAnswer> => {
  const found = await readSeedObjects(query, context);
  const probers = replicasOf(found).map((replica) => readStatusOfReplica(context, query.namespace, replica));
  const isNobody = probers.length === 0 && found.replicas !== undefined;
  const problems = [...found.problems, ...(isNobody ? ['no ready pod of the prober was found'] : [])];
  return { objects: { ...found, problems }, ...(await answerOf(probers, query, context)) };
};

/** Names what we connected to: the context of the kubeconfig, else the address. */
const nameOf = ({ context, endpoint }: CommandContext['access']): string =>
  context === undefined ? authority(endpoint) : `of context ${context}`;

/** Same as `readStatus`, for a connected cluster. */
export const readSeedStatus = async (query: LeaderQuery, context: CommandContext): Promise<SeedStatus> => {
  const { namespace, shoot } = query;
  const { objects, answer, problem: silence } = await askLeader(query, context);
  const { value: all, problem } =
    answer === undefined ? await orProblem('the held resources', readHeldHere(namespace, context)) : {};
  const asked = all?.shoots.length === 0 ? await orProblem('the Clusters', isNoSeed(objects, query, context)) : {};
  return judgeSeed({
    // The prober's clock is that of all its times.
    ...{ at: answer?.at ?? new Date(context.clock.now()).toISOString(), connectedTo: nameOf(context.access) },
    ...{ objects, answer, isNoSeed: asked.value },
    held: all && shoot !== undefined ? await onlyOf(all, shoot, context) : all,
    problems: [silence, problem].filter((one) => one !== undefined),
  });
};

/** Keeps what is held of one shoot. Rejects with NoSuchShoot if the Clusters show that there is none. */
const onlyOf = async (held: HeldObjects, shoot: string, context: CommandContext): Promise<HeldObjects> => {
  const { value: named } = await orProblem('the Clusters', findNamedShoot(shoot, context));
  const found = findShoot(held.shoots, named?.namespace ?? shoot);
  return { ...held, shoots: found === undefined ? [] : [found], total: 1 };
};

/** Reads a seed's status, and writes nothing. Failed reads are in its `problems`. Rejects with NoSuchShoot if there is none, and with a CommandError without a usable kubeconfig. */
export const readStatus = (run: StatusRun): Promise<SeedStatus> =>
  onCluster(run, (context) => readSeedStatus(run, context), 2);
