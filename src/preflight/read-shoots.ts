import type { PoolConditions } from '../gardener/candidate-nodes.ts';
import { getVersion } from '../gardener/shoot-calls.ts';
import { reviewAccess } from '../kubernetes/api/access.ts';
import { ApiError, KubeconfigError } from '../kubernetes/api/errors.ts';
import { listNodeLeases } from '../kubernetes/api/lease.ts';
import type { ShootConnection, ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import { type NodeLists, byReason, measureSkew, notCounted, proberShootGrants } from '../prober/index.ts';
import { type NeededRight, rightsOf } from '../process/rights/index.ts';
import type { SeenNodes, ShootAnswer } from './checks/api-servers.ts';
import { ReadFailed, type Reader, attempt, optionsOf, send } from './reader.ts';

/** Maximum number of shoots that are checked at the same time. */
const concurrency = 50;
/** Timeout of all requests to one shoot together, without the lists of its nodes. A probe repeats a single request after the same time. */
const shootTimeoutMs = 5_000;

const problemOf = (text: string | undefined, connector: ShootConnector): string | undefined => {
  if (text === undefined) return 'the Secret has no kubeconfig under the configured key';
  try {
    connector.clientFor(text).close();
    return undefined;
  } catch (error) {
    if (error instanceof KubeconfigError) return error.message;
    throw error;
  }
};

/** Checks that the prober could use each kubeconfig, without a connection. The texts are undefined where the Secret has none. */
export const judgeSecrets = (texts: ReadonlyMap<string, string | undefined>, connector: ShootConnector) =>
  new Map(Array.from(texts, ([namespace, text]) => [namespace, { text, problem: problemOf(text, connector) }]));

const needed = rightsOf(proberShootGrants);

/** Error codes for names that only the DNS of the seed resolves: `kube-apiserver.shoot--a--b.svc`. */
const unknownNames: ReadonlySet<string | undefined> = new Set(['ENOTFOUND', 'EAI_AGAIN']);

const failureOf = (error: unknown): ShootAnswer => {
  if (!(error instanceof ApiError)) throw error;
  const { message: problem } = error;
  if (error.code === 'Unauthorized') return { kind: 'rejected', problem };
  return { kind: 'unreachable', problem, isNameUnknown: unknownNames.has(error.fault.code) };
};

/** Counts the nodes whose leases count, with the requests of a run of the prober. */
const countNodes = async (
  { client }: ShootConnection,
  { namespace, poolConditions, lists }: ShootToAsk & Pick<ShootsToAsk, 'lists'>,
  reader: Reader,
): Promise<SeenNodes> => {
  const { nodes: listed, machines: machinesIn, chooseCandidates, noSuchNode } = lists;
  const machinesOf = { verb: 'list', group: 'machine.sapcloud.io', resource: 'machines', namespace };
  try {
    const [{ value: leases }, { value: nodes }, machines] = await Promise.all([
      client.call(listNodeLeases, optionsOf(reader)),
      client.call(listed, optionsOf(reader)),
      machinesIn && attempt(machinesOf, () => send(reader, machinesIn(namespace))),
    ]);
    const chosen = chooseCandidates(nodes, machines?.value ?? [], poolConditions);
    const candidates = leases.filter(({ name }) => chosen.candidates.has(name)).length;
    return { nodes: nodes.length, candidates, leftOutReasons: byReason(notCounted(leases, { ...chosen, noSuchNode })) };
  } catch (error) {
    if (error instanceof ReadFailed) return error.finding;
    if (error instanceof ApiError) return { code: 'read-failed', detail: error.message };
    throw error;
  }
};

const askShoot = async (
  connection: ShootConnection,
  shoot: ShootToAsk & Pick<ShootsToAsk, 'lists'>,
  reader: Reader,
): Promise<ShootAnswer> => {
  const { clock, signal } = reader;
  const deadline = clock.monotonic() + shootTimeoutMs;
  const options = () => ({ signal, timeoutMs: Math.max(1, deadline - clock.monotonic()) });
  const { client } = connection;
  try {
    const { date, sentAt, receivedAt } = await client.call(getVersion, options());
    const wallAtEnd = clock.now() - (clock.monotonic() - receivedAt);
    const skewMs = measureSkew({ date, wallAtEnd, roundTripMs: receivedAt - sentAt });
    const missing: NeededRight[] = [];
    for (const need of needed) {
      if (!(await client.call(reviewAccess(need.right), options())).value) missing.push(need);
    }
    const nodes = missing.length === 0 ? await countNodes(connection, shoot, reader) : undefined;
    return { kind: 'answered', missing, skewMs, nodes };
  } catch (error) {
    return failureOf(error);
  } finally {
    connection.close();
  }
};

interface ShootToAsk {
  readonly namespace: string;
  /** A usable kubeconfig. */
  readonly kubeconfig: string;
  readonly poolConditions: PoolConditions;
}

export interface ShootsToAsk {
  readonly connector: ShootConnector;
  readonly shoots: readonly ShootToAsk[];
  /** How the prober selects the nodes that count. */
  readonly lists: NodeLists;
  /** The seed's clock minus ours, in milliseconds. Undefined if unknown. */
  readonly seedSkewMs: number | undefined;
  /** Called with the number of shoots that have been checked. */
  readonly progress: (done: number) => void;
}

/** Sends requests to all shoots, several at a time; one that hangs does not block the others. Results are by namespace, in the order of `shoots`. */
export const askShoots = async (
  { connector, shoots, lists, seedSkewMs, progress }: ShootsToAsk,
  reader: Reader,
): Promise<ReadonlyMap<string, ShootAnswer>> => {
  const answers: [namespace: string, answer: ShootAnswer][] = [];
  let done = 0;
  const ask = async (shoot: ShootToAsk): Promise<ShootAnswer> => {
    if (reader.clock.monotonic() >= reader.deadline) {
      return { kind: 'untried', problem: 'not checked, because the time was over (--timeout)' };
    }
    const answer = await askShoot(connector.clientFor(shoot.kubeconfig), { ...shoot, lists }, reader);
    if (answer.kind !== 'answered' || answer.skewMs === undefined) return answer;
    // Both clocks were compared with ours.
    return { ...answer, skewMs: seedSkewMs === undefined ? undefined : answer.skewMs - seedSkewMs };
  };
  // All workers take from the same iterator.
  const queue = shoots.entries();
  const work = async (): Promise<void> => {
    for (const [index, shoot] of queue) {
      answers[index] = [shoot.namespace, await ask(shoot)];
      done += 1;
      progress(done);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return new Map(answers);
};
