import { decideByCandidates, decideByLeases, judgeLeases } from '../judge/decide.ts';
import { afterFailedShootRead } from '../judge/retry.ts';
import type { Decision, ProbeInput, ProbeMemory } from '../judge/judgement.ts';
import { type ReadsDeps, openReads } from './reads.ts';

export interface ProbeRequest {
  readonly cluster: string;
  readonly kubeConfigSecretName: string;
  /** Key of the Secret's data, for error messages; absent: `kubeconfig`. */
  readonly kubeConfigKey?: string;
  readonly timeoutMs: number;
  /** The memory that the previous run returned. */
  readonly memory: ProbeMemory;
  /** Called again for each judgement, because a run may take long. */
  readonly input: () => Omit<ProbeInput, 'now' | 'memory'>;
  readonly signal: AbortSignal;
}

export interface ProbeResult {
  readonly decision: Decision;
  readonly durationMs: number;
  /** The API server's wall clock minus ours, in milliseconds. */
  readonly skewMs?: number;
}

/**
 * Runs one probe: it reads version, leases and, if they could change the result, nodes and machines. A failed read ends the run, and nothing is scaled. Rejects
 * only with `signal.reason`.
 */
export const probe = async (deps: ReadsDeps, request: ProbeRequest): Promise<ProbeResult> => {
  const { clock } = deps;
  const { memory } = request;
  const startedAt = clock.monotonic();
  const times = { startedAt, endsBy: startedAt + request.timeoutMs };
  const reads = openReads(deps, { ...request, deadline: times.endsBy });
  const input = (): ProbeInput => ({ ...request.input(), memory, now: clock.monotonic() });
  const end = (decision: Decision): ProbeResult => ({
    decision: { ...decision, memory: withSlowest(decision.memory, reads.slowestResponseMs()) },
    durationMs: clock.monotonic() - startedAt,
    ...reads.skew(),
  });
  try {
    const isSlow = answersAreSlow(memory, times);
    const [version, early] = await Promise.all([reads.version(), isSlow ? reads.leases() : undefined]);
    if (!version.ok) {
      return end(afterFailedShootRead({ startedAt, failure: 'api_server_unreachable', ...version }, input()));
    }

    const leases = early ?? (await reads.leases());
    if (!leases.ok) return end(afterFailedShootRead({ startedAt, failure: 'lease_list_failed', ...leases }, input()));
    const judged = judgeLeases(leases.value, input());
    if (judged.leasesSuffice) return end(decideByLeases(judged, input()));

    // A slow list of leases is stale once nodes and machines have arrived, so list again beside them, unless time is short: a stale list is better than a
    // timeout.
    const isRepeated = isSlow && hasTimeForAnother(times, clock.monotonic());
    const [nodes, machines, newer = leases] = await Promise.all([
      reads.nodes(),
      reads.machines(judged.isUrgent ? 'urgent' : judged.isOnlyToKnow ? 'spare' : 'ordinary'),
      isRepeated ? reads.leases() : undefined,
    ]);
    if (!newer.ok) return end(afterFailedShootRead({ startedAt, failure: 'lease_list_failed', ...newer }, input()));
    const latest = newer === leases ? judged : judgeLeases(newer.value, input());
    if (latest.leasesSuffice) return end(decideByLeases(latest, input()));
    return end(
      decideByCandidates(latest, { nodes, machines, chooseCandidates: deps.source.lists.chooseCandidates }, input()),
    );
  } finally {
    reads.close();
  }
};

interface RunTimes {
  readonly startedAt: number;
  readonly endsBy: number;
}

/**
 * Responses are slow if one took longer than this in the latest run, in milliseconds, or longer than a quarter of a run's time: then requests run in parallel
 * where they can.
 */
const slowAnswerMs = 2_000;

const answersAreSlow = ({ slowestResponseMs = 0 }: ProbeMemory, { startedAt, endsBy }: RunTimes): boolean =>
  slowestResponseMs > Math.min(slowAnswerMs, (endsBy - startedAt) / 4);

/** True if another response that takes as long as the first ones of this run arrives before its time is up. */
const hasTimeForAnother = ({ startedAt, endsBy }: RunTimes, now: number): boolean => now + (now - startedAt) < endsBy;

const withSlowest = ({ slowestResponseMs: _, ...memory }: ProbeMemory, latest: number | undefined): ProbeMemory =>
  latest === undefined ? memory : { ...memory, slowestResponseMs: latest };
