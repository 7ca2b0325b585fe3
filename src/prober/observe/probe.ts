import type { Machine } from '../../gardener/machine.ts';
import { getVersion } from '../../gardener/shoot-calls.ts';
import type { CallResult } from '../../kubernetes/api/call.ts';
import { type Result, isApiError } from '../../kubernetes/api/errors.ts';
import { type Lease, listNodeLeases } from '../../kubernetes/api/lease.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ClusterSource } from '../clusters/cluster-source.ts';
import { decideByCandidates, decideByLeases, judgeLeases } from '../judge/decide.ts';
import type { Decision, ProbeInput, ProbeMemory, ReadError } from '../judge/judgement.ts';
import { type LeaseList, measureSkew } from '../judge/leases.ts';
import { afterFailedRead } from '../judge/retry.ts';
import { type RunRequestsDeps, RunRequests, type RunRequestsOptions, type Sent } from './run-requests.ts';

export interface ProbeDeps extends RunRequestsDeps {
  readonly source: Pick<ClusterSource, 'lists'>;
}

export interface ProbeRequest extends Pick<RunRequestsOptions, 'secret' | 'secretKey' | 'timeoutMs' | 'signal'> {
  readonly cluster: string;
  /** The memory that the previous run returned. */
  readonly memory: ProbeMemory;
  /** Called again for each judgement, because a run may take long. */
  readonly input: () => Omit<ProbeInput, 'now' | 'memory'>;
}

export interface ProbeResult {
  readonly decision: Decision;
  readonly durationMs: number;
  /** The API server's wall clock minus ours, in milliseconds. */
  readonly skewMs?: number;
}

/**
 * Runs one probe: it reads version, leases and, if they could change the result or have not been read for five minutes, nodes and machines. If a read fails
 * that decides, the verdict is `failed`. Rejects only with `signal.reason`.
 */
export const probe = async (deps: ProbeDeps, request: ProbeRequest): Promise<ProbeResult> => {
  const { clock, source } = deps;
  const { cluster, memory, timeoutMs } = request;
  const { lists } = source;
  const startedAt = clock.monotonic();
  const deadline = startedAt + timeoutMs;
  const requests = new RunRequests(deps, { ...request, deadline, slowestResponseMs: memory.slowestResponseMs });
  let skewMs: number | undefined;
  const listLeases = async (): Promise<Result<LeaseList, ReadError>> => {
    const sent = await requests.shoot(listNodeLeases);
    if (!sent.ok) return sent;
    const value = leaseListOf(sent.value, clock);
    skewMs = value.skewMs ?? skewMs;
    return { ok: true, value };
  };
  const input = (known = memory): ProbeInput => ({ ...request.input(), memory: known, now: clock.monotonic() });
  const fail = (failure: 'api_server_unreachable' | 'lease_list_failed', error: ReadError): ProbeResult =>
    end(afterFailedRead({ startedAt, failure, error }, input()));
  const end = (decision: Decision): ProbeResult => ({
    decision: { ...decision, memory: { ...decision.memory, slowestResponseMs: requests.slowestResponseMs() } },
    durationMs: clock.monotonic() - startedAt,
    skewMs,
  });
  try {
    const isSlow = (memory.slowestResponseMs ?? 0) > Math.min(slowAnswerMs, timeoutMs / 4);
    const [version, early] = await Promise.all([requests.shoot(getVersion), isSlow ? listLeases() : undefined]);
    if (!version.ok) return fail('api_server_unreachable', version.error);
    const leases = early ?? (await listLeases());
    if (!leases.ok) return fail('lease_list_failed', leases.error);
    const judged = judgeLeases(leases.value, input());
    if (judged.need === 'nothing') return end(decideByLeases(input(judged.memory)));

    const isOnlyToKnow = judged.need === 'knowledge';
    const pace = judged.isUrgent ? 'urgent' : isOnlyToKnow ? 'spare' : 'ordinary';
    const listMachines = async (): Promise<Result<readonly Machine[], ReadError>> =>
      lists.machines ? valueOf(await requests.seed(lists.machines(cluster), pace)) : { ok: true, value: [] };
    // At the start of a process the machine lists of all shoots wait for their turn. Without them nodes are of no use, and the next run tries again.
    const spare = isOnlyToKnow ? await listMachines() : undefined;
    if (spare?.ok === false && !isApiError(spare.error, 'Forbidden')) return end(decideByLeases(input(judged.memory)));

    // A slow list of leases is stale once nodes and machines have arrived, so list again beside them, if another response that takes as long as the first ones
    // arrives in time: a stale list is better than a timeout.
    const isRepeated = isSlow && 2 * clock.monotonic() - startedAt < deadline;
    const [nodes, machines, newer] = await Promise.all([
      requests.shoot(lists.nodes),
      spare ?? listMachines(),
      isRepeated ? listLeases() : undefined,
    ]);
    if (newer?.ok === false && isApiError(newer.error, 'TooManyRequests')) {
      return end(afterFailedRead({ failure: 'lease_list_failed', error: newer.error }, input(judged.memory)));
    }
    // The first list was answered: that a second one fails beside it shows nothing about the API server.
    const latest = newer?.ok === true ? judgeLeases(newer.value, input()) : judged;
    if (latest.need === 'nothing') return end(decideByLeases(input(latest.memory)));
    return end(decideByCandidates({ ...lists, nodes: valueOf(nodes), machines }, input(latest.memory)));
  } finally {
    requests.close();
  }
};

const leaseListOf = (
  { value: items, date, sentAt, receivedAt }: CallResult<readonly Lease[]>,
  clock: Pick<Clock, 'now' | 'monotonic'>,
): LeaseList => {
  const wallAtEnd = clock.now() - (clock.monotonic() - receivedAt);
  const skewMs = measureSkew({ date, wallAtEnd, roundTripMs: receivedAt - sentAt });
  return { items, sentAt, receivedAt, serverNow: date ?? wallAtEnd, skewMs };
};

const valueOf = <T>(sent: Sent<T>): Result<T, ReadError> => (sent.ok ? { ok: true, value: sent.value.value } : sent);

/**
 * Responses are slow if one took longer than this in the latest run, in milliseconds, or longer than a quarter of a run's time: then requests run in parallel
 * where they can.
 */
const slowAnswerMs = 2_000;
