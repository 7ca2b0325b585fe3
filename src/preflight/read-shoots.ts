import { getVersion } from '../gardener/shoot-calls.ts';
import { reviewAccess } from '../kubernetes/api/access.ts';
import { ApiError, KubeconfigError } from '../kubernetes/api/errors.ts';
import type { ShootConnection, ShootConnector } from '../kubernetes/api/shoot-connection.ts';
import { measureSkew, proberShootGrants } from '../prober/index.ts';
import { type NeededRight, rightsOf } from '../process/rights/index.ts';
import type { ShootAnswer } from './checks/api-servers.ts';
import type { SeedRead } from './checks/check.ts';
import type { SeenSecret } from './checks/secrets.ts';
import type { Reader } from './reader.ts';

/** Shoots that are asked at the same time. */
const concurrency = 50;
/** All requests to one shoot together: as long as one of a probe may take. */
const shootTimeoutMs = 5_000;

const secretOf = (connector: ShootConnector, text: string | undefined): SeenSecret => {
  if (text === undefined) return { kind: 'unusable', problem: 'the Secret has no kubeconfig under the configured key' };
  try {
    connector.clientFor(text).close();
    return { kind: 'usable' };
  } catch (error) {
    if (error instanceof KubeconfigError) return { kind: 'unusable', problem: error.message };
    throw error;
  }
};

/** Tells of each kubeconfig if the prober would use it; connects nowhere. */
export const judgeSecrets = (
  connector: ShootConnector,
  texts: SeedRead<ReadonlyMap<string, string | undefined>>,
): SeedRead<ReadonlyMap<string, SeenSecret>> =>
  texts.ok
    ? { ok: true, value: new Map([...texts.value].map(([namespace, text]) => [namespace, secretOf(connector, text)])) }
    : texts;

const needed = rightsOf(proberShootGrants);

/** Names that only the DNS of the seed knows: `kube-apiserver.shoot--a--b.svc`. */
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
    return { kind: 'answered', missing, ...(skewMs === undefined ? {} : { skewMs }) };
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
  /** The seed's clock minus ours; undefined if that is not known. */
  readonly seedSkewMs: number | undefined;
  /** Hears how many have been asked. */
  readonly progress: (done: number) => void;
}

type Answered = Extract<ShootAnswer, { readonly kind: 'answered' }>;

/** Both clocks were compared with ours; what counts is how they differ from one another. */
const againstSeed = ({ skewMs, ...answer }: Answered, seedSkewMs: number | undefined): ShootAnswer =>
  skewMs === undefined || seedSkewMs === undefined ? answer : { ...answer, skewMs: skewMs - seedSkewMs };

/** Asks every shoot, some at a time; one that hangs holds up no other. In the order of `kubeconfigs`. */
export const askShoots = async (
  { connector, kubeconfigs, seedSkewMs, progress }: ShootsToAsk,
  reader: Reader,
): Promise<ReadonlyMap<string, ShootAnswer>> => {
  const answers = new Map<string, ShootAnswer>();
  const ask = async (text: string): Promise<ShootAnswer> => {
    if (reader.clock.monotonic() >= reader.deadline) {
      return { kind: 'untried', problem: 'the time was over before it was asked (--timeout)' };
    }
    const answer = await askShoot(connector.clientFor(text), reader);
    return answer.kind === 'answered' ? againstSeed(answer, seedSkewMs) : answer;
  };
  // All workers take from the same iterator.
  const queue = kubeconfigs.entries();
  const work = async (): Promise<void> => {
    for (const [namespace, text] of queue) {
      answers.set(namespace, await ask(text));
      progress(answers.size);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return new Map(
    [...kubeconfigs.keys()].flatMap((namespace) => {
      const answer = answers.get(namespace);
      return answer === undefined ? [] : [[namespace, answer] as const];
    }),
  );
};
