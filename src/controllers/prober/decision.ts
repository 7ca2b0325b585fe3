import type { Circumstances, Counts, ProbeMemory, Verdict, Verdicted } from './verdict.ts';

export const soonestMs = 1_000;

export const nextTick = ({ now, random, settings }: Circumstances): number =>
  now + settings.probeIntervalMs * (1 + random * settings.backoffJitterFactor);

export interface Healthy {
  readonly memory: ProbeMemory;
  readonly reason: string;
  readonly counts?: Counts;
  readonly scope?: 'held';
  /** Instants t* at which the verdict would turn, each for a reason of its own. */
  readonly deadlines?: readonly (number | undefined)[];
  readonly pathTurnsAt?: number | undefined;
}

export const scaleUp = (circumstances: Circumstances, healthy: Healthy): Verdicted => {
  const { memory, reason, counts, scope = 'all', deadlines = [], pathTurnsAt } = healthy;
  const deadline = Math.min(...deadlines.filter((at) => at !== undefined));
  const look = Math.max(deadline, circumstances.now + soonestMs);
  return verdictOf(
    { ...circumstances, memory },
    {
      verdict: { kind: 'scale-up', scope },
      reason,
      counts,
      nextRunAt: Math.min(nextTick(circumstances), look),
      pathTurnsAt,
    },
  );
};

export interface VerdictParts {
  readonly verdict: Verdict;
  readonly reason?: string;
  readonly counts?: Counts | undefined;
  /** Default: the next tick. */
  readonly nextRunAt?: number;
  readonly pathTurnsAt?: number | undefined;
}

export const verdictOf = (circumstances: Circumstances, parts: VerdictParts): Verdicted => {
  const { verdict, counts, nextRunAt = nextTick(circumstances), pathTurnsAt } = parts;
  return {
    kind: 'verdict',
    verdict,
    reason: parts.reason ?? (verdict.kind === 'failed' ? verdict.error.message : verdict.kind),
    nextRunAt,
    memory: circumstances.memory,
    ...(counts === undefined ? {} : { counts }),
    ...(pathTurnsAt === undefined ? {} : { pathTurnsAt }),
  };
};
