import {
  type Answer,
  ApiError,
  type Call,
  type Look,
  type Result,
  getVersion,
  listMachines,
  listNodeLeasesAgain,
  listNodes,
  measureSkew,
  significantSkew,
} from '../../domain/index.ts';
import type { Clock, KubeClient, ShootConnection } from '../../ports/index.ts';
import { type ConnectDeps, connectShoot } from './connect.ts';
import { decide } from './decide.ts';
import type { Circumstances, Decision, DependentsView, Need, Observation, ReadError } from './verdict.ts';

export interface ObserveDeps extends ConnectDeps {
  readonly clock: Clock;
  readonly seed: KubeClient;
}

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
  readonly decision: Extract<Decision, { kind: 'verdict' }>;
  readonly durationMs: number;
  /** API server's wall clock minus ours. */
  readonly skewMs?: number;
}

const urgentTimeoutMs = 5_000;

/**
 * One probe run: fetches what `decide` asks for until it decides. A new connection, shared by the requests of this run, so that a
 * half-open one of an earlier run cannot look like an outage. Rejects only with `signal.reason`.
 */
export const observeRun = async (deps: ObserveDeps, request: RunRequest): Promise<RunResult> => {
  const { clock } = deps;
  const startedAt = clock.monotonic();
  const deadline = startedAt + request.timeoutMs;
  const connection = connectShoot(deps, `${request.namespace}/${request.kubeConfigSecretName}`);
  let skewMs: number | undefined;
  try {
    let observation: Observation = { startedAt, dependents: request.dependents() };
    for (;;) {
      const now = clock.monotonic();
      observation = { ...observation, dependents: request.dependents() };
      const decision = decide(observation, { ...request.circumstances(), now });
      if (decision.kind === 'verdict') {
        return { decision, durationMs: now - startedAt, ...(skewMs === undefined ? {} : { skewMs }) };
      }
      const ask = { deps, request, connection, deadline, urgent: decision.urgent ?? false };
      const parts = await Promise.all(decision.needs.map((need) => fetchPart(need, ask)));
      observation = Object.assign({}, observation, ...parts.map(({ part }) => part)) as Observation;
      skewMs = parts.find((part) => part.skewMs !== undefined)?.skewMs ?? skewMs;
    }
  } finally {
    if (connection.ok) connection.value.close();
  }
};

interface Ask {
  readonly deps: ObserveDeps;
  readonly request: RunRequest;
  readonly connection: Result<ShootConnection, ReadError>;
  readonly deadline: number;
  readonly urgent: boolean;
}

interface Part {
  readonly part: Partial<Observation>;
  readonly skewMs?: number | undefined;
}

const fetchPart = async (need: Need, ask: Ask): Promise<Part> => {
  const { connection, request } = ask;
  if (!connection.ok) return { part: { apiServer: connection } };
  const shoot = connection.value.client;
  switch (need) {
    case 'apiServer':
      return { part: { apiServer: valueOf(await send(shoot, getVersion, ask)) } };
    case 'leases':
      return fetchLeases(shoot, ask);
    case 'nodes':
      return { part: { nodes: valueOf(await send(shoot, listNodes, ask)) } };
    case 'machines':
      return { part: { machines: valueOf(await sendToSeed(listMachines(request.namespace), ask)) } };
  }
};

type Sent<T> = Result<Answer<T>, ApiError>;

const valueOf = <T>(sent: Sent<T>): Result<T, ApiError> => (sent.ok ? { ok: true, value: sent.value.value } : sent);

const fetchLeases = async (shoot: KubeClient, ask: Ask): Promise<Part> => {
  const { clock } = ask.deps;
  const sent = await send(shoot, listNodeLeasesAgain(ask.request.leaseNames ?? []), ask);
  if (!sent.ok) return { part: { leases: sent } };
  const { value, date, sentAt, receivedAt } = sent.value;
  const wall = clock.now() - (clock.monotonic() - receivedAt);
  const exchange = { date, wallAtEnd: wall, roundTripMs: receivedAt - sentAt };
  const skewMs = significantSkew(exchange);
  const look: Look = { startedAt: sentAt, endedAt: receivedAt, wall, ...(skewMs === undefined ? {} : { skewMs }) };
  return { part: { leases: { ok: true, value: { items: value, look } } }, skewMs: measureSkew(exchange) };
};

/** An urgent request on a connection that hangs must leave time for another try before KCM acts. */
const sendToSeed = async <T>(call: Call<T>, ask: Ask): Promise<Sent<T>> => {
  const { seed, clock } = ask.deps;
  if (!ask.urgent) return send(seed, call, ask);
  const deadline = Math.min(ask.deadline, clock.monotonic() + urgentTimeoutMs);
  const first = await send(seed, call, { ...ask, deadline });
  if (first.ok || first.error.code !== 'Timeout' || clock.monotonic() >= ask.deadline) return first;
  return send(seed, call, ask);
};

const send = async <T>(client: KubeClient, call: Call<T>, ask: Ask): Promise<Sent<T>> => {
  const { signal } = ask.request;
  try {
    // At least 1 ms: a run whose time is up ends in a Timeout like any other.
    const timeoutMs = Math.max(1, ask.deadline - ask.deps.clock.monotonic());
    const lane = ask.urgent ? ({ lane: 'urgent' } as const) : {};
    return { ok: true, value: await client.call(call, { signal, timeoutMs, ...lane }) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) return { ok: false, error };
    throw error;
  }
};
