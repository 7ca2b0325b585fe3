import type { ProbingEnd } from '../clusters/lifecycle.ts';
import type { Verdict } from '../judge/judgement.ts';
import type { Direction, ScalingScope } from './patch-plan.ts';

/** What the resources of a shoot should be: by its latest verdict, or at the end of probing. Instants are monotonic milliseconds. */
export interface DesiredScaling {
  readonly direction: Direction;
  readonly scope: ScalingScope;
  /** The verdict in words and numbers, or why probing ends. */
  readonly reason: string;
  /** When it became so: a scale-down when the threshold was crossed. */
  readonly since: number;
  /** When the verdict was reached. */
  readonly judgedAt: number;
  /** True at the end of probing: no verdict follows. */
  readonly isFinal?: boolean;
  /** True if the process was suspended since: it may no longer be right. */
  readonly isDoubtful?: boolean;
}

/** Returns the scaling that a verdict requires; undefined if the verdict leaves it as it is. */
export const desiredBy = (
  verdict: Verdict,
  given: Pick<DesiredScaling, 'reason' | 'judgedAt'>,
): DesiredScaling | undefined => {
  switch (verdict.kind) {
    case 'unhealthy':
      return { direction: 'down', scope: 'all', since: verdict.crossedAt, ...given };
    case 'healthy':
      return { direction: 'up', scope: verdict.scope, since: given.judgedAt, ...given };
    case 'skipped':
    case 'confirming':
    case 'landing':
    case 'failed':
      return undefined;
  }
};

/** Returns the last scaling of a shoot; undefined if its resources are left as they are. */
export const desiredAtEnd = ({ releasePolicy, reason }: ProbingEnd, now: number): DesiredScaling | undefined =>
  releasePolicy === 'nothing'
    ? undefined
    : {
        direction: releasePolicy === 'restore' ? 'up' : 'release',
        scope: 'held',
        reason,
        since: now,
        judgedAt: now,
        isFinal: true,
      };
