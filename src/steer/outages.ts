import { findHeldNote } from '../gardener/held-note.ts';
import { formatAge } from '../kubernetes/api/duration.ts';
import type { HeldResource } from '../prober/held/index.ts';
import type { ProbedShoot } from '../prober/status/index.ts';
import type { LeaderAnswer } from '../status/index.ts';
import { escapeControls } from '../telemetry/index.ts';

/** What is known of the outage for which a shoot is held. */
export interface ShootOutage {
  /** The name by which its cluster goes: the namespace of its control plane, or `NAMESPACE/CLUSTER` where several share one. */
  readonly cluster: string;
  /** True only on evidence: by what a prober says, or because one leads and has not restored what it holds. */
  readonly goesOn: boolean;
  /** That evidence in one line. */
  readonly words: string;
}

/** `cluster`: the name by which its cluster goes. */
export type HeldInCluster = HeldResource & { readonly cluster: string };

interface OutageInput {
  readonly held: readonly HeldInCluster[];
  readonly leader: LeaderAnswer;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Of a shoot that is held, those in which a prober sees nodes that renew their leases. */
const overStates: ReadonlySet<ProbedShoot['state']> = new Set(['landing', 'restoring', 'healthy', 'flapping']);

const leasesOf = ({ candidates, expired }: ProbedShoot): string =>
  candidates === 0 ? '' : `${String(expired)}/${String(candidates)} leases expired, `;

const nameOf = ({ project, name, namespace }: ProbedShoot): string =>
  project === undefined || namespace.includes('/') ? namespace : `${project}/${name} (${namespace})`;

/** By what a prober sees. */
const seenOutage = (shoot: ProbedShoot, now: number): ShootOutage => {
  const { namespace, state, since, reason, next, graceMs } = shoot;
  const head = `${nameOf(shoot)}: ${leasesOf(shoot)}${state} for ${formatAge(now - Date.parse(since))}`;
  const isOver = overStates.has(state) || (state === 'paused' && shoot.expired === 0);
  if (isOver) return { cluster: namespace, goesOn: false, words: escapeControls(`${head}: ${next.text}`) };
  const lost = `the outage goes on, and kube-controller-manager gives up these nodes about ${formatAge(graceMs)} after it is back`;
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

/** By what the objects of the seed tell: no more than why it was scaled down, and whether somebody leads, other than who has answered, who would have restored it. */
const notedOutage = (cluster: string, { held, leader, now }: OutageInput): ShootOutage => {
  const { objects, answer } = leader;
  const isLed = answer?.leads !== true && objects.lease?.isFresh === true && objects.lease.holder !== '';
  const means = isLed
    ? 'a prober leads that could not be asked, and restores it when the outage is over: so it goes on'
    : 'whether that outage is over is not known';
  return { cluster, goesOn: isLed, words: escapeControls(`${cluster}: ${noteOf(held, now)}; ${means}`) };
};

/** One for each shoot of which something is held, by namespace. */
export const judgeOutages = (input: OutageInput): readonly ShootOutage[] => {
  const { held, leader, now } = input;
  const clusters = [...new Set(held.map(({ cluster }) => cluster))].toSorted();
  return clusters.map((namespace) => {
    const shoot = leader.answer?.shoots.find((one) => one.namespace === namespace);
    if (shoot !== undefined) return seenOutage(shoot, now);
    return notedOutage(namespace, { ...input, held: held.filter(({ cluster }) => cluster === namespace) });
  });
};

/** Of the shoots that were released, those in which a prober still sees expired leases, a line each. */
export const stillInOutage = ({ answer }: LeaderAnswer, clusters: ReadonlySet<string>): readonly string[] =>
  (answer?.shoots ?? [])
    .filter(({ namespace, expired }) => clusters.has(namespace) && expired > 0)
    .map((shoot) => {
      const { namespace, expired, candidates } = shoot;
      const counts = `still ${String(expired)}/${String(candidates)} leases expired`;
      return escapeControls(`${nameOf(shoot)}: ${counts}; dwd resume --shoot ${namespace} protects it again`);
    });
