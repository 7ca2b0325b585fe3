import type { ProbeInput } from './probe-input.ts';
import type { ProbeMemory } from './probe-memory.ts';
import type { Downtime, LeaseCounts, Verdict } from './verdict.ts';

/** Result of a probe run. */
export interface Decision {
  readonly verdict: Verdict;
  /** Explanation for people, in words and numbers. */
  readonly reason: string;
  /** Absent if nodes and machines were not listed. */
  readonly counts?: LeaseCounts;
  /** Reasons by name: why the lease of a node does not count, or that it has none. Absent if nodes and machines were not listed. */
  readonly leftOut?: ReadonlyMap<string, string>;
  /** Number of nodes; absent if nodes and machines were not listed. */
  readonly nodes?: number;
  /** Monotonic instant of the next run. */
  readonly nextRunAt: number;
  /** Monotonic instant from which another state of the external probe would change the verdict. Absent if no state would. */
  readonly verdictMayTurnAt?: number;
  readonly memory: ProbeMemory;
  /** True if the verdict `unhealthy` rests on leases that this process has seen renewed before they fell silent. */
  readonly hasObservedRenewals?: true;
  /** Present if the API server was down until now: the age of each lease then counts from the end of the downtime. */
  readonly downtime?: Downtime;
}

export const minRetryDelayMs = 1_000;

export const nextScheduledRun = ({ now, random, settings }: ProbeInput): number =>
  now + settings.probeIntervalMs * (1 + random * settings.backoffJitterFactor);

export interface HealthyParts {
  readonly memory: ProbeMemory;
  readonly reason: string;
  readonly counts?: LeaseCounts;
  readonly scope?: 'held';
  /** Monotonic instants at which the verdict would change, one per rule. */
  readonly deadlines?: readonly (number | undefined)[];
  readonly verdictMayTurnAt?: number | undefined;
}

/** Returns the decision that a shoot is healthy. The next run is due at the first of its deadlines, or at the next scheduled run. */
export const healthyDecision = (input: ProbeInput, given: HealthyParts): Decision => {
  const { memory, reason, counts, scope = 'all', deadlines = [], verdictMayTurnAt } = given;
  const deadline = Math.min(...deadlines.filter((at) => at !== undefined));
  return decisionOf(input, {
    verdict: { kind: 'healthy', scope },
    reason,
    counts,
    nextRunAt: Math.min(nextScheduledRun(input), Math.max(deadline, input.now + minRetryDelayMs)),
    verdictMayTurnAt,
    memory,
  });
};

export interface DecisionParts {
  readonly verdict: Verdict;
  readonly reason?: string;
  readonly counts?: LeaseCounts | undefined;
  /** Default: the next scheduled run. */
  readonly nextRunAt?: number;
  readonly verdictMayTurnAt?: number | undefined;
  /** Default: `input.memory`. */
  readonly memory?: ProbeMemory;
}

/** Completes a decision: its reason, the time of the next run, and the memory. */
export const decisionOf = (input: ProbeInput, parts: DecisionParts): Decision => {
  const { verdict, counts, nextRunAt = nextScheduledRun(input), verdictMayTurnAt, memory = input.memory } = parts;
  return {
    verdict,
    reason: parts.reason ?? (verdict.kind === 'failed' ? verdict.error.message : verdict.kind),
    nextRunAt,
    memory,
    ...(counts === undefined ? {} : { counts }),
    ...(verdictMayTurnAt === undefined ? {} : { verdictMayTurnAt }),
  };
};
