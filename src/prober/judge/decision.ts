import type { ProbeInput } from './probe-input.ts';
import type { ProbeMemory } from './probe-memory.ts';
import type { Downtime, LeaseCounts, Verdict } from './verdict.ts';

/** What a probe run has come to. */
export interface Decision {
  readonly verdict: Verdict;
  /** In words and numbers, for people. */
  readonly reason: string;
  /** Absent where nodes and machines were not listed. */
  readonly counts?: LeaseCounts;
  /** By name, why the other leases do not count, and the nodes that have none; absent where nodes and machines were not listed. */
  readonly leftOut?: ReadonlyMap<string, string>;
  /** How many nodes there are; absent as `leftOut` is. */
  readonly nodes?: number;
  /** Monotonic instant of the next run. */
  readonly nextRunAt: number;
  /** Monotonic instant from which another state of the external probe would turn the verdict; absent: it would not. */
  readonly verdictMayTurnAt?: number;
  readonly memory: ProbeMemory;
  /** A verdict `unhealthy` rests on leases that this process has itself seen to be renewed before they fell silent. */
  readonly restsOnSeenRenewals?: true;
  /** The API server was down until now, and the leases are given their time again. */
  readonly downtime?: Downtime;
}

export const soonestMs = 1_000;

export const nextTick = ({ now, random, settings }: ProbeInput): number =>
  now + settings.probeIntervalMs * (1 + random * settings.backoffJitterFactor);

export interface Healthy {
  readonly memory: ProbeMemory;
  readonly reason: string;
  readonly counts?: LeaseCounts;
  readonly scope?: 'held';
  /** Instants t* at which the verdict would turn, each for a reason of its own. */
  readonly deadlines?: readonly (number | undefined)[];
  readonly verdictMayTurnAt?: number | undefined;
}

export const healthy = (input: ProbeInput, given: Healthy): Decision => {
  const { memory, reason, counts, scope = 'all', deadlines = [], verdictMayTurnAt } = given;
  const deadline = Math.min(...deadlines.filter((at) => at !== undefined));
  return decisionOf(
    { ...input, memory },
    {
      verdict: { kind: 'healthy', scope },
      reason,
      counts,
      nextRunAt: Math.min(nextTick(input), Math.max(deadline, input.now + soonestMs)),
      verdictMayTurnAt,
    },
  );
};

export interface DecisionParts {
  readonly verdict: Verdict;
  readonly reason?: string;
  readonly counts?: LeaseCounts | undefined;
  /** Default: the next tick. */
  readonly nextRunAt?: number;
  readonly verdictMayTurnAt?: number | undefined;
}

export const decisionOf = (input: ProbeInput, parts: DecisionParts): Decision => {
  const { verdict, counts, nextRunAt = nextTick(input), verdictMayTurnAt } = parts;
  return {
    verdict,
    reason: parts.reason ?? (verdict.kind === 'failed' ? verdict.error.message : verdict.kind),
    nextRunAt,
    memory: input.memory,
    ...(counts === undefined ? {} : { counts }),
    ...(verdictMayTurnAt === undefined ? {} : { verdictMayTurnAt }),
  };
};
