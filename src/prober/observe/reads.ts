import { measureSkew, type LeaseList } from '../judge/leases.ts';
import type { Machine } from '../../gardener/machine.ts';
import type { NodeView } from '../../gardener/node.ts';
import { getVersion } from '../../gardener/shoot-calls.ts';
import type { Result } from '../../kubernetes/api/errors.ts';
import { listNodeLeases } from '../../kubernetes/api/lease.ts';
import type { ProbeMemory, ReadError } from '../judge/judgement.ts';
import { type RequestPace, type RunRequestsDeps, RunRequests, type Sent } from './run-requests.ts';
import type { ClusterSource } from '../clusters/cluster-source.ts';

type Read<T> = Promise<Result<T, ReadError>>;

/** The reads of a run. A failed read is returned as data. */
export interface Reads {
  version(): Read<undefined>;
  leases(): Read<LeaseList>;
  nodes(): Read<readonly NodeView[]>;
  machines(pace: RequestPace): Read<readonly Machine[]>;
  /** Returns the clock skew by the latest list of the leases. */
  skew(): { readonly skewMs?: number };
  slowestResponseMs(): number | undefined;
  close(): void;
}

export interface ReadsRequest {
  readonly cluster: string;
  readonly kubeConfigSecretName: string;
  /** Key of the Secret's data, for error messages; absent: `kubeconfig`. */
  readonly kubeConfigKey?: string;
  /** The memory that the previous run returned. */
  readonly memory: ProbeMemory;
  /** Monotonic instant at which the run ends, and its time-out as a whole. */
  readonly deadline: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ReadsDeps extends RunRequestsDeps {
  readonly source: Pick<ClusterSource, 'lists'>;
}

/** Opens the reads of a run. They reject only with `signal.reason`. */
export const openReads = (deps: ReadsDeps, request: ReadsRequest): Reads => {
  const { clock, source } = deps;
  const { cluster, kubeConfigSecretName, memory, deadline, timeoutMs, signal } = request;
  const { slowestResponseMs } = memory;
  const requests = new RunRequests(deps, {
    secret: `${cluster}/${kubeConfigSecretName}`,
    secretKey: request.kubeConfigKey,
    deadline,
    timeoutMs,
    slowestResponseMs,
    signal,
  });
  let skewMs: number | undefined;
  return {
    version: async () => valueOf(await requests.shoot(getVersion)),
    leases: async () => {
      const sent = await requests.shoot(listNodeLeases);
      if (!sent.ok) return sent;
      const { value: items, date, sentAt, receivedAt } = sent.value;
      const wallAtEnd = clock.now() - (clock.monotonic() - receivedAt);
      const measured = measureSkew({ date, wallAtEnd, roundTripMs: receivedAt - sentAt });
      skewMs = measured ?? skewMs;
      return { ok: true, value: { items, sentAt, receivedAt, serverNow: date ?? wallAtEnd, skewMs: measured } };
    },
    nodes: async () => valueOf(await requests.shoot(source.lists.nodes)),
    machines: async (pace) => {
      const machines = source.lists.machines?.(cluster);
      return machines === undefined ? { ok: true, value: [] } : valueOf(await requests.seed(machines, pace));
    },
    skew: () => (skewMs === undefined ? {} : { skewMs }),
    slowestResponseMs: () => requests.slowestResponseMs(),
    close: () => requests.close(),
  };
};

const valueOf = <T>(sent: Sent<T>): Result<T, ReadError> => (sent.ok ? { ok: true, value: sent.value.value } : sent);
