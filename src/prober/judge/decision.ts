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
  readonly memory: ProbeMemory;
  /** Present if the API server failed until now: silence then counts from the end of that. */
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
  /** Monotonic instant from which the verdict would be another if no lease were renewed. */
  readonly mayTurnAt?: number;
}

/** Returns the decision that a shoot is healthy. The next run is due when that could change, or at the next scheduled run. */
export const healthyDecision = (input: ProbeInput, given: HealthyParts): Decision => {
  const { memory, reason, counts, scope = 'all', mayTurnAt = Number.POSITIVE_INFINITY } = given;
  const nextRunAt = Math.min(nextScheduledRun(input), Math.max(mayTurnAt, input.now + minRetryDelayMs));
  return decisionOf(input, { verdict: { kind: 'healthy', scope }, reason, counts, nextRunAt, memory });
};

export interface DecisionParts {
  readonly verdict: Verdict;
  readonly reason?: string;
  readonly counts?: LeaseCounts;
  /** Default: the next scheduled run. */
  readonly nextRunAt?: number;
  /** Default: `input.memory`. */
  readonly memory?: ProbeMemory;
}

/** Completes a decision: its reason, the time of the next run, and the memory. */
export const decisionOf = (input: ProbeInput, parts: DecisionParts): Decision => {
  const { verdict, counts, nextRunAt = nextScheduledRun(input), memory = input.memory } = parts;
  const reason = parts.reason ?? (verdict.kind === 'failed' ? verdict.error.message : verdict.kind);
  return { verdict, reason, counts, nextRunAt, memory };
};
