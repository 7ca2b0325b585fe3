import { type DatedExchange, measureSkew, significantSkew } from './judge/clock-skew.ts';
import type { LeaseObservation } from './judge/lease-history.ts';
import type { Machine } from '../gardener/machine.ts';
import type { NodeView } from '../gardener/node.ts';
import { getVersion } from '../gardener/shoot-calls.ts';
import type { CallResult } from '../kubernetes/api/call.ts';
import type { Result } from '../kubernetes/api/errors.ts';
import { listNodeLeases } from '../kubernetes/api/lease.ts';
import type { Clock } from '../ports/clock.ts';
import type { LeaseList } from './judge/probe-input.ts';
import type { ProbeMemory } from './judge/probe-memory.ts';
import type { ReadError } from './judge/verdict.ts';
import { type RunRequestsDeps, RunRequests, type Sent } from './run-requests.ts';
import type { ClusterSource } from './source/cluster-source.ts';

type Read<T> = Promise<Result<T, ReadError>>;

/** The reads of a run. A failed read is returned as data. */
export interface Reads {
  version(): Read<undefined>;
  leases(): Read<LeaseList>;
  nodes(): Read<readonly NodeView[]>;
  machines(urgent: boolean): Read<readonly Machine[]>;
  /** Returns the clock skew by the latest list of the leases. */
  skew(): { readonly skewMs?: number };
  slowestResponseMs(): number | undefined;
  close(): void;
}

export interface ReadsRequest {
  readonly cluster: string;
  readonly kubeConfigSecretName: string;
  /** Key of the Secret's data, for error messages; absent: `kubeconfig`. */
  readonly kubeConfigKey?: string | undefined;
  /** The memory that the previous run returned. */
  readonly memory: ProbeMemory;
  /** Monotonic instant at which the run ends. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

export interface ReadsDeps extends RunRequestsDeps {
  readonly source: Pick<ClusterSource, 'lists'>;
}

/** Opens the reads of a run. They reject only with `signal.reason`. */
export const openReads = (deps: ReadsDeps, request: ReadsRequest): Reads => {
  const { clock, source } = deps;
  const { cluster, kubeConfigSecretName, memory, deadline, signal } = request;
  const { slowestResponseMs } = memory;
  const requests = new RunRequests(deps, {
    secret: `${cluster}/${kubeConfigSecretName}`,
    secretKey: request.kubeConfigKey,
    deadline,
    slowestResponseMs,
    signal,
  });
  let skewMs: number | undefined;
  return {
    version: async () => valueOf(await requests.shoot(getVersion)),
    leases: async () => {
      const sent = await requests.shoot(listNodeLeases);
      if (!sent.ok) return sent;
      const exchange = exchangeOf(sent.value, clock);
      skewMs = measureSkew(exchange) ?? skewMs;
      return {
        ok: true,
        value: { items: sent.value.value, observation: observationOf(sent.value, exchange, requests.stalledUntil()) },
      };
    },
    nodes: async () => valueOf(await requests.shoot(source.lists.nodes)),
    machines: async (urgent) => {
      const machines = source.lists.machines?.(cluster);
      return machines === undefined ? { ok: true, value: [] } : valueOf(await requests.seed(machines, urgent));
    },
    skew: () => (skewMs === undefined ? {} : { skewMs }),
    slowestResponseMs: () => requests.slowestResponseMs(),
    close: () => requests.close(),
  };
};

const valueOf = <T>(sent: Sent<T>): Result<T, ReadError> => (sent.ok ? { ok: true, value: sent.value.value } : sent);

const exchangeOf = ({ date, sentAt, receivedAt }: CallResult<unknown>, clock: Clock): DatedExchange => ({
  date,
  wallAtEnd: clock.now() - (clock.monotonic() - receivedAt),
  roundTripMs: receivedAt - sentAt,
});

const observationOf = (
  { sentAt, receivedAt }: CallResult<unknown>,
  exchange: DatedExchange,
  stalledUntil: number | undefined,
): LeaseObservation => {
  const skewMs = significantSkew(exchange);
  return {
    startedAt: sentAt,
    endedAt: receivedAt,
    wall: exchange.wallAtEnd,
    ...(skewMs === undefined ? {} : { skewMs }),
    ...(stalledUntil === undefined ? {} : { stalledUntil }),
  };
};
