import type { ProberStatus, ShootStatus } from './schema.ts';
import { plural } from './words.ts';

/** A shoot that was not probed for more than this number of intervals needs attention. */
const mostIntervals = 3;

const secondsOf = (ms: number): string => `${String(Math.round(ms / 1_000))} s`;

/** The first run of a shoot may be still to come, or under way. */
const notProbedOfLate = ({ shoots, probeIntervalMs, at }: ProberStatus): readonly ShootStatus[] =>
  shoots.filter(
    ({ lastRunEndedAt, nextRunAt, failing, notProbed }) =>
      notProbed === undefined &&
      failing === undefined &&
      Date.parse(at) - Date.parse(lastRunEndedAt ?? nextRunAt ?? at) > mostIntervals * probeIntervalMs,
  );

export const allPaused = 'all shoots are paused: nothing is scaled down';

/** Says what is wrong with the prober or the whole seed, a sentence each. */
export const attentionOf = (prober: ProberStatus): readonly string[] => {
  const late = notProbedOfLate(prober);
  const { missingRights, otherInstallations = [], paused, probeIntervalMs } = prober;
  const [first] = late;
  return [
    ...(paused === null ? [] : [allPaused]),
    ...(missingRights.length === 0 ? [] : [`rights are missing: ${missingRights.join('; ')}`]),
    ...(otherInstallations.length === 0
      ? []
      : [
          `other probers are active in this seed: ${otherInstallations.join(', ')}; each may restore what the other holds`,
        ]),
    ...(first === undefined
      ? []
      : [
          `${plural(late.length, 'shoot')} of ${String(prober.shoots.length)} not probed within ${secondsOf(mostIntervals * probeIntervalMs)}, such as ${first.namespace}`,
        ]),
  ];
};
