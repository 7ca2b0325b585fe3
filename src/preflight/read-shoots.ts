import { getVersion } from '../gardener/shoot-calls.ts';
import { reviewAccess } from '../kubernetes/api/access.ts';
import { ApiError, KubeconfigError } from '../kubernetes/api/errors.ts';
import type { ShootConnection, ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import { measureSkew, proberShootGrants } from '../prober/index.ts';
import { type NeededRight, rightsOf } from '../process/rights/index.ts';
import type { ShootAnswer } from './checks/api-servers.ts';
import type { Reader } from './reader.ts';

/** Maximum number of shoots that are checked at the same time. */
const concurrency = 50;
/** Timeout of all requests to one shoot together. A probe repeats a single request after the same time. */
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

const askShoot = async (connection: ShootConnection, { clock, signal }: Reader): Promise<ShootAnswer> => {
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
    return { kind: 'answered', missing, skewMs };
  } catch (error) {
    return failureOf(error);
  } finally {
    connection.close();
  }
};

export interface ShootsToAsk {
  readonly connector: ShootConnector;
  /** Usable kubeconfigs by namespace. */
  readonly kubeconfigs: ReadonlyMap<string, string>;
  /** The seed's clock minus ours, in milliseconds. Undefined if unknown. */
  readonly seedSkewMs: number | undefined;
  /** Called with the number of shoots that have been checked. */
  readonly progress: (done: number) => void;
}

/** Sends requests to all shoots, several at a time; one that hangs does not block the others. Results are in the order of `kubeconfigs`. */
export const askShoots = async (
  { connector, kubeconfigs, seedSkewMs, progress }: ShootsToAsk,
  reader: Reader,
): Promise<ReadonlyMap<string, ShootAnswer>> => {
  const answers: [namespace: string, answer: ShootAnswer][] = [];
  let done = 0;
  const ask = async (text: string): Promise<ShootAnswer> => {
    if (reader.clock.monotonic() >= reader.deadline) {
      return { kind: 'untried', problem: 'not checked, because the time was over (--timeout)' };
    }
    const answer = await askShoot(connector.clientFor(text), reader);
    if (answer.kind !== 'answered' || answer.skewMs === undefined) return answer;
    // Both clocks were compared with ours.
    return { ...answer, skewMs: seedSkewMs === undefined ? undefined : answer.skewMs - seedSkewMs };
  };
  // All workers take from the same iterator.
  const queue = [...kubeconfigs].entries();
  const work = async (): Promise<void> => {
    for (const [index, [namespace, text]] of queue) {
      answers[index] = [namespace, await ask(text)];
      done += 1;
      progress(done);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return new Map(answers);
};
