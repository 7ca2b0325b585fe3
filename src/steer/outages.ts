import { findHeldNote } from '../annotations/held-note.ts';
import { formatAge } from '../kubernetes/api/duration.ts';
import type { HeldResource } from '../prober/held/index.ts';
import type { ProbedShoot } from '../prober/status/index.ts';
import type { LeaderAnswer } from '../status/index.ts';
import { escapeControls } from '../telemetry/index.ts';

/** The outage for which resources of a shoot are held. */
export interface ShootOutage {
  /** Name of its cluster: the namespace of its control plane. */
  readonly cluster: string;
  /** True only on evidence: a prober reports the outage, or a leader has not restored the held resources. */
  readonly goesOn: boolean;
  /** The evidence, in one line. */
  readonly words: string;
}

interface OutageInput {
  readonly held: readonly HeldResource[];
  readonly leader: LeaderAnswer;
  /** Current time, in milliseconds since the epoch. */
  readonly now: number;
}

/** States of a held shoot in which the prober observes that nodes renew their leases. */
const overStates: ReadonlySet<ProbedShoot['state']> = new Set(['landing', 'restoring', 'healthy', 'flapping']);

const leasesOf = ({ candidates, expired }: ProbedShoot): string =>
  candidates === 0 ? '' : `${String(expired)}/${String(candidates)} leases expired, `;

const nameOf = ({ project, name, namespace }: ProbedShoot): string =>
  project === undefined ? namespace : `${project}/${name} (${namespace})`;

/** Judges an outage by the state that a prober reports. */
const seenOutage = (shoot: ProbedShoot, now: number): ShootOutage => {
  const { namespace, state, since, reason, next, graceMs } = shoot;
  const head = `${nameOf(shoot)}: ${leasesOf(shoot)}${state} for ${formatAge(now - Date.parse(since))}`;
  const isOver = overStates.has(state) || (state === 'paused' && shoot.expired === 0);
  if (isOver) return { cluster: namespace, goesOn: false, words: escapeControls(`${head}: ${next.text}`) };
  const lost = `the outage continues, and kube-controller-manager gives up these nodes about ${formatAge(graceMs)} after it is restored`;
  return { cluster: namespace, goesOn: true, words: escapeControls(`${head}: ${reason}: ${lost}`) };
};

const noteOf = (held: readonly HeldResource[], now: number): string => {
  const notes = held.flatMap(({ state }) => findHeldNote(state.annotations) ?? []);
  const since = Math.min(...notes.flatMap(({ since: at }) => at ?? []));
  const reason = notes.find((note) => note.reason !== '')?.reason;
  const when = Number.isFinite(since)
    ? `held since ${new Date(since).toISOString()} (${formatAge(now - since)})`
    : 'held';
  return reason === undefined ? when : `${when}: ${reason}`;
};

/**
 * Judges an outage by objects of the seed alone: the note, and the Lease. A leader other than the prober that responded would have restored the resources
 * if the outage were over.
 */
const notedOutage = (cluster: string, { held, leader, now }: OutageInput): ShootOutage => {
  const { objects, answer } = leader;
  const isLed = answer?.leads !== true && objects.lease?.isFresh === true && objects.lease.holder !== '';
  const means = isLed
    ? 'the leader did not respond; it restores held resources when the outage is over, so the outage continues'
    : 'the state of that outage is unknown';
  return { cluster, goesOn: isLed, words: escapeControls(`${cluster}: ${noteOf(held, now)}; ${means}`) };
};

/** Judges the outage of each shoot with held resources, sorted by cluster. */
export const judgeOutages = (input: OutageInput): readonly ShootOutage[] => {
  const { held, leader, now } = input;
  const clusters = [...new Set(held.map(({ cluster }) => cluster))].toSorted();
  return clusters.map((namespace) => {
    const shoot = leader.answer?.shoots.find((one) => one.namespace === namespace);
    if (shoot !== undefined) return seenOutage(shoot, now);
    return notedOutage(namespace, { ...input, held: held.filter(({ cluster }) => cluster === namespace) });
  });
};

/** Lists the released shoots in which a prober still observes expired leases, a line each. */
export const stillInOutage = ({ answer }: LeaderAnswer, clusters: ReadonlySet<string>): readonly string[] =>
  (answer?.shoots ?? [])
    .filter(({ namespace, expired }) => clusters.has(namespace) && expired > 0)
    .map((shoot) => {
      const { namespace, expired, candidates } = shoot;
      const counts = `still ${String(expired)}/${String(candidates)} leases expired`;
      return escapeControls(`${nameOf(shoot)}: ${counts}; dwd resume --shoot ${namespace} protects it again`);
    });
