import { type ProbedShoot, type ProberStatus, protectionStates } from '../prober/status/index.ts';
import { findWanted } from './find-shoot.ts';
import type { HeldObjects, SeedObjects, SeedStatus, SeenShoot, StatusExitCode } from './seed-status.ts';

/** A shoot that was not probed for more than this number of intervals needs attention. */
const mostIntervals = 3;

const rank = new Map(protectionStates.map((state, index) => [state, index]));

/** Returns true if the shoot is healthy and needs no attention. */
export const isPlainHealthy = ({ state, unmet = false, ignored = [] }: SeenShoot): boolean =>
  state === 'healthy' && !unmet && ignored.length === 0;

/** Ranks a shoot, 0 is the worst: an outage that is not met, any state but healthy, healthy with `ignore-scaling`, healthy. */
const exposure = (shoot: SeenShoot): number => {
  if (shoot.unmet === true) return 0;
  return shoot.state !== 'healthy' ? 1 : isPlainHealthy(shoot) ? 3 : 2;
};

const sinceOf = ({ since }: SeenShoot): number => (since === undefined ? Number.MAX_VALUE : Date.parse(since));

/** Sorts by rank, then by state, the worst first, then by time in that state, the longest first and unknown times last. */
const worstFirst = (shoots: readonly SeenShoot[]): readonly SeenShoot[] =>
  shoots.toSorted(
    (a, b) =>
      exposure(a) - exposure(b) ||
      (rank.get(a.state) ?? 0) - (rank.get(b.state) ?? 0) ||
      sinceOf(a) - sinceOf(b) ||
      a.namespace.localeCompare(b.namespace),
  );

const secondsOf = (ms: number): string => `${String(Math.round(ms / 1_000))} s`;

const notProbedOfLate = ({ shoots, probeIntervalMs, at }: ProberStatus): readonly ProbedShoot[] =>
  shoots.filter(
    ({ lastRunEndedAt = 0 }) =>
      new Date(at).valueOf() - new Date(lastRunEndedAt).valueOf() > mostIntervals * probeIntervalMs,
  );

const allPaused = 'all shoots are paused: nothing is scaled down';

const namesOf = (shoots: readonly ProbedShoot[]): string => {
  const [first] = shoots;
  return `${String(shoots.length)} ${shoots.length === 1 ? 'shoot' : 'shoots'}${first === undefined ? '' : `, such as ${first.namespace}`}`;
};

/** Lists problems by which shoots are less protected than their states suggest. */
const exposedOf = ({ shoots }: ProberStatus): readonly string[] => {
  const unmet = shoots.filter((shoot) => shoot.unmet === true);
  const ignoring = shoots.filter(({ ignored = [] }) => ignored.length > 0);
  return [
    ...(unmet.length === 0 ? [] : [`an outage continues without full protection: nodes are lost (${namesOf(unmet)})`]),
    ...(ignoring.length === 0 ? [] : [`ignore-scaling excludes resources from protection (${namesOf(ignoring)})`]),
  ];
};

const mostNamed = 3;

/** Lists held resources that no prober restores, because their shoot is not probed. */
const unprobedOf = ({ heldUnprobed = [] }: ProberStatus, wanted: string | undefined): readonly string[] => {
  const found = wanted === undefined ? heldUnprobed : findWanted(heldUnprobed, wanted);
  const lines = found.slice(0, mostNamed).map(({ namespace, reason, held }) => {
    const names = held.map(({ name }) => name).join(', ');
    return `${namespace} is not probed (${reason}), so no prober restores its held resources: ${names}; to restore them: dwd release --shoot ${namespace}`;
  });
  const more = found.length - lines.length;
  return more > 0
    ? [...lines, `${String(more)} more shoots with held resources are not probed (-o json lists them)`]
    : lines;
};

/** Reports a requested shoot that is not probed: its name may be mistyped. */
const missingOf = ({ shoots }: ProberStatus, wanted: string | undefined): readonly string[] =>
  wanted === undefined || shoots.length > 0
    ? []
    : [
        `the prober does not probe ${wanted}: dwd status --all lists the shoots that it probes, kubectl get clusters all shoots of the seed`,
      ];

const attentionOf = (prober: ProberStatus, wanted: string | undefined): readonly string[] => {
  const late = notProbedOfLate(prober);
  const { missingRights, otherInstallations = [], leads, paused, probeIntervalMs } = prober;
  const [first] = late;
  const unprobed = unprobedOf(prober, wanted);
  return [
    ...(leads ? [] : ['the prober that responded does not lead']),
    ...exposedOf(prober),
    ...(unprobed.length > 0 ? unprobed : missingOf(prober, wanted)),
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
          `${String(late.length)} of ${String(prober.shoots.length)} shoots not probed within ${secondsOf(mostIntervals * probeIntervalMs)}, such as ${first.namespace}`,
        ]),
  ];
};

export interface SeedFindings {
  readonly at: string;
  readonly objects: SeedObjects;
  readonly answer: ProberStatus | undefined;
  /** Undefined if a prober has responded, or objects could not be read. */
  readonly held: HeldObjects | undefined;
  readonly problems: readonly string[];
  /** Requested shoot. Absent for all shoots. */
  readonly wanted?: string | undefined;
}

const exitCodeOf = (status: Omit<SeedStatus, 'exitCode'>, held: HeldObjects | undefined): StatusExitCode => {
  if (status.attention.length > 0 || !status.shoots.every(isPlainHealthy)) return 1;
  if (status.source === 'leader') return 0;
  // 1 without a leader, which needs attention. 2 with a leader that does not respond: the state is unknown.
  const isLed = status.lease?.isFresh === true && status.lease.holder !== '';
  return held?.problems.length === 0 && status.lease !== undefined && !isLed ? 1 : 2;
};

/** Creates the status from all findings: sorts the shoots, lists what needs attention and computes the exit code. */
export const judgeSeed = ({ at, objects, answer, held, problems, wanted }: SeedFindings): SeedStatus => {
  const { lease, replicas } = objects;
  const shoots = worstFirst(answer?.shoots ?? held?.shoots ?? []);
  const known = {
    at,
    lease,
    replicas,
    shoots,
    problems: [...objects.problems, ...problems, ...(held?.problems ?? [])],
    total: answer?.shoots.length ?? held?.total ?? 0,
  };
  if (answer === undefined) {
    const attention = (held?.paused ?? null) === null ? [] : [allPaused];
    const status = { ...known, source: 'objects', prober: undefined, attention } as const;
    return { ...status, exitCode: exitCodeOf(status, held) };
  }
  const { shoots: _, ...prober } = answer;
  const status = { ...known, source: 'leader', prober, attention: attentionOf(answer, wanted) } as const;
  return { ...status, exitCode: exitCodeOf(status, held) };
};
