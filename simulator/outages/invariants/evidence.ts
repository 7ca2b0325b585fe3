import type { Rules } from '../rules.ts';
import { failureThreshold, isReachable } from '../external-probe-responses.ts';
import { type ShootModel, sentAtOf } from '../model.ts';
import { type Observation, type View, viewOf } from '../client-views.ts';
import { stateless } from './invariant.ts';
import { watchdogWrite } from './scaling.ts';

/** Resolution of times: timestamps have microseconds, so they are rounded. */
const resolutionMs = 1;
/** Maximum difference between a timestamp and the observed time at which the timestamp still counts. */
const timestampToleranceMs = 2_000;

/**
 * Time between the requests for the two observations that an all-silent verdict requires. The observed states may be closer together, by
 * half a second or by the latency of requests.
 */
const confirmMs = 2_000;
const slackMs = 500;
/** Time without a renewal after which a candidate is silent. */
const silentMs = 15_000;
/** Time for which a scale-down may continue after its verdict, whatever the external probe shows meanwhile. */
const flowMs = 30_000;

export interface Evidence {
  readonly candidates: number;
  readonly expired: number;
  /** Number of candidates that have not renewed for 15 s. */
  readonly silent: number;
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
  const silent = candidates.filter(([, changedAt]) => isOlder(changedAt, silentMs));
  const isAllSilent =
    candidates.length >= 3 && candidates.every(([, changedAt]) => isOlder(sinceOf(changedAt), rules.allSilentMs(name)));
  return { candidates: candidates.length, expired: expired.length, silent: silent.length, isAllSilent };
};

export const hasCrossed = ({ candidates, expired }: Evidence, { fraction }: Rules): boolean =>
  candidates >= 2 && expired / candidates >= fraction;

/** True if silence is enough for a scale-down: in trigger mode, while the public address is unreachable, and not because of a fault on our side. */
const isTriggered = (observation: Observation, { candidates, silent }: Evidence, { plan }: Rules): boolean => {
  const { failures, isProven } = observation.externalProbe;
  const isBroken = failures >= failureThreshold && isProven && !observation.isFaultOurs;
  return plan.outside === 'trigger' && candidates >= 2 && silent === candidates && isBroken;
};

/**
 * True if the external probe may veto. An address is unknown if its kubeconfig was unusable after the last response, or while the fault is on
 * our side; no request shows that.
 */
const mayVeto = ({ externalProbe, knownAt, isFaultOurs }: Observation, { name, shoot, rules }: EvidenceCase): boolean =>
  !isFaultOurs &&
  isReachable(externalProbe, knownAt, rules.limitMs(name)) &&
  shoot.spoiledUntil < externalProbe.answeredAt;

const confirms = ({ plan: { outside } }: Rules): boolean => outside === 'confirm' || outside === 'trigger';

/** No Deployment is scaled down unless the last data that the same process received before its write crossed the threshold. */
export const evidence = stateless('no scale-down without evidence', (event, { model, views, rules }) => {
  const write = watchdogWrite(event);
  if (write?.direction !== 'down') return undefined;
  const { shoot: name, writer } = write;
  const shoot = model.shoots.get(name);
  const sentAt = sentAtOf(model, writer);
  const view = viewOf(views, writer.process, name);
  if (shoot === undefined) return undefined;
  if (view.observations < 2) {
    return `${name}: ${write.name} was scaled down after ${String(view.observations)} observations of its leases`;
  }
  const given = { name, shoot, view, rules };
  const observations = view.complete
    .filter(({ knownAt }) => knownAt <= sentAt)
    .map((observation) => ({ observation, seen: evidenceIn(observation, given) }));
  if (
    observations.some(
      ({ observation, seen }) => sentAt - observation.knownAt <= flowMs && isTriggered(observation, seen, rules),
    )
  ) {
    return undefined;
  }
  // A single candidate decides nothing, so the previous decision still holds.
  const known = observations.find(({ seen }) => seen.candidates !== 1)?.seen;
  // The latest and the first of the successive observations of silence.
  const brokenAt = observations.findIndex(({ seen }) => seen.candidates !== 1 && !seen.isAllSilent);
  const silences = observations.slice(0, brokenAt === -1 ? undefined : brokenAt).filter(({ seen }) => seen.isAllSilent);
  const [latestSilence, firstSilence] = [silences.at(0), silences.at(-1)];
  const isConfirmedSilence =
    latestSilence !== undefined &&
    firstSilence !== undefined &&
    latestSilence.observation.servedAt - firstSilence.observation.servedAt >=
      confirmMs - Math.max(slackMs, rules.plan.latencyMs) - resolutionMs;
  // A scale-down that has begun continues, even if the external probe may veto later.
  const isUnopposed = observations.some(({ observation, seen }) => seen.isAllSilent && !mayVeto(observation, given));
  if (isConfirmedSilence && (isUnopposed || !confirms(rules))) return undefined;
  if (known === undefined) {
    return `${name}: ${write.name} was scaled down without an observation of leases, nodes and machines`;
  }
  if (!hasCrossed(known, rules)) {
    const counts = `${String(known.expired)} of ${String(known.candidates)} leases`;
    return `${name}: ${write.name} was scaled down although only ${counts} had expired`;
  }
  const isConfirmed = observations.some(
    ({ observation, seen }) => hasCrossed(seen, rules) && !mayVeto(observation, given),
  );
  if (isConfirmed || !confirms(rules)) return undefined;
  return `${name}: ${write.name} was scaled down although its outside path was whole`;
});
