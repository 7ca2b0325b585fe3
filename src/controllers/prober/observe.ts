import {
  type Answer,
  getVersion,
  type Lease,
  listMachines,
  listNodeLeasesAgain,
  listNodes,
  type Look,
  measureSkew,
  type Result,
  significantSkew,
} from '../../domain/index.ts';
import type { Clock } from '../../ports/index.ts';
import { type AskDeps, type Asker, createAsker, type Sent } from './ask.ts';
import { decide } from './decide.ts';
import type { Circumstances, DependentsView, Need, Observation, ProbeMemory, ReadError, Verdicted } from './verdict.ts';

export type ObserveDeps = AskDeps;

export interface RunRequest {
  readonly namespace: string;
  readonly kubeConfigSecretName: string;
  readonly timeoutMs: number;
  /** Of the latest list, in its order. */
  readonly leaseNames?: readonly string[];
  /** Asked anew for each decision: a run may take long. */
  readonly dependents: () => DependentsView;
  readonly circumstances: () => Omit<Circumstances, 'now'>;
  readonly signal: AbortSignal;
}

export interface RunResult {
  readonly decision: Verdicted;
  readonly durationMs: number;
  /** API server's wall clock minus ours. */
  readonly skewMs?: number;
}

/** One probe run: fetches what `decide` asks for until it decides. Rejects only with `signal.reason`. */
export const observeRun = async (deps: ObserveDeps, request: RunRequest): Promise<RunResult> => {
  const { clock } = deps;
  const { namespace, signal } = request;
  const startedAt = clock.monotonic();
  const endsBy = startedAt + request.timeoutMs;
  const asker = createAsker(deps, {
    secret: `${namespace}/${request.kubeConfigSecretName}`,
    deadline: endsBy,
    slowestAnswerMs: request.circumstances().memory.slowestAnswerMs,
    signal,
  });
  let skewMs: number | undefined;
  try {
    let observation: Observation = { startedAt, endsBy, dependents: request.dependents() };
    for (;;) {
      const now = clock.monotonic();
      observation = { ...observation, dependents: request.dependents() };
      const decision = decide(observation, { ...request.circumstances(), now });
      if (decision.kind === 'verdict') {
        const memory = withSlowest(decision.memory, asker.slowestAnswerMs());
        const durationMs = now - startedAt;
        return { decision: { ...decision, memory }, durationMs, ...(skewMs === undefined ? {} : { skewMs }) };
      }
      const ask = { clock, asker, request, urgent: decision.urgent ?? false };
      const parts = await Promise.all(decision.needs.map((need) => fetchPart(need, ask)));
      observation = Object.assign({}, observation, ...parts.map(({ part }) => part)) as Observation;
      skewMs = parts.find((part) => part.skewMs !== undefined)?.skewMs ?? skewMs;
    }
  } finally {
    asker.close();
  }
};

const withSlowest = ({ slowestAnswerMs: _, ...memory }: ProbeMemory, latest: number | undefined): ProbeMemory =>
  latest === undefined ? memory : { ...memory, slowestAnswerMs: latest };

interface Ask {
  readonly clock: Clock;
  readonly asker: Asker;
  readonly request: RunRequest;
  readonly urgent: boolean;
}

interface Part {
  readonly part: Partial<Observation>;
  readonly skewMs?: number | undefined;
}

const fetchPart = async (need: Need, { clock, asker, request, urgent }: Ask): Promise<Part> => {
  switch (need) {
    case 'apiServer':
      return { part: { apiServer: valueOf(await asker.shoot(getVersion)) } };
    case 'leases':
      return leasesPart(await asker.shoot(listNodeLeasesAgain(request.leaseNames ?? [])), clock);
    case 'nodes':
      return { part: { nodes: valueOf(await asker.shoot(listNodes)) } };
    case 'machines':
      return { part: { machines: valueOf(await asker.seed(listMachines(request.namespace), urgent)) } };
  }
};

const valueOf = <T>(sent: Sent<T>): Result<T, ReadError> => (sent.ok ? { ok: true, value: sent.value.value } : sent);

const leasesPart = (sent: Sent<readonly Lease[]>, clock: Clock): Part => {
  if (!sent.ok) return { part: { leases: sent } };
  const { value, date, sentAt, receivedAt }: Answer<readonly Lease[]> = sent.value;
  const wall = clock.now() - (clock.monotonic() - receivedAt);
  const exchange = { date, wallAtEnd: wall, roundTripMs: receivedAt - sentAt };
  const skewMs = significantSkew(exchange);
  const look: Look = { startedAt: sentAt, endedAt: receivedAt, wall, ...(skewMs === undefined ? {} : { skewMs }) };
  return { part: { leases: { ok: true, value: { items: value, look } } }, skewMs: measureSkew(exchange) };
};
