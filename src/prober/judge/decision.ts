import type { LeaseCounts, Decision, ProbeInput, ProbeMemory, Verdict } from './verdict.ts';

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
