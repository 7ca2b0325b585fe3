import type { Rules } from '../rules.ts';
import type { ShootModel } from '../model.ts';
import type { Observation, View } from '../client-views.ts';

/** Resolution of times: timestamps have microseconds, so they are rounded. */
const resolutionMs = 1;
/** Maximum difference between a timestamp and the observed time at which the timestamp still counts. */
const timestampToleranceMs = 2_000;

export interface Evidence {
  readonly candidates: number;
  readonly expired: number;
  /** True if there are three or more candidates, and none has renewed for `Rules.allSilentMs`. */
  readonly isAllSilent: boolean;
}

export interface EvidenceCase {
  readonly name: string;
  readonly shoot: ShootModel;
  readonly view: View;
  readonly rules: Rules;
}

/**
 * Judges an observation as favourably to a scale-down as the specification allows. A lease's age counts from its last change, or from the end
 * of a downtime of the API server. If clocks are wrong, a timestamp may count: within limits once the lease was seen renewed, without before.
 */
export const evidenceIn = (observation: Observation, { name, shoot, view, rules }: EvidenceCase): Evidence => {
  const slackMs = shoot.isSkewed ? view.longestGapMs + timestampToleranceMs : 0;
  const candidates = [...observation.leases].filter(
    ([node]) => observation.nodes?.get(node)?.isCandidate === true && observation.machines?.has(node) === true,
  );
  const sinceOf = (changedAt: number): number =>
    Math.max(changedAt, view.downUntil <= observation.knownAt ? view.downUntil : Number.NEGATIVE_INFINITY);
  const isOlder = (changedAt: number, ms: number): boolean =>
    observation.servedAt - changedAt >= ms - slackMs - resolutionMs;
  const expired = candidates.filter(([node, changedAt]) => {
    if (shoot.isSkewed && !view.moved.has(node)) return true;
    return isOlder(sinceOf(changedAt), rules.limitMs(name));
  });
  const isAllSilent =
    candidates.length >= 3 && candidates.every(([, changedAt]) => isOlder(sinceOf(changedAt), rules.allSilentMs(name)));
  return { candidates: candidates.length, expired: expired.length, isAllSilent };
};

export const hasCrossed = ({ candidates, expired }: Evidence, { fraction }: Rules): boolean =>
  candidates >= 2 && expired / candidates >= fraction;
