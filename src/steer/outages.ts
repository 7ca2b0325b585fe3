import { readHeldAnnotation } from '../annotations/held.ts';
import { formatAge } from '../kubernetes/api/duration.ts';
import type { HeldResource } from '../prober/index.ts';
import type { ShootStatus } from '../status/state/schema.ts';
import { stateInWords } from '../status/state/judge-seed.ts';
import { leasesInWords } from '../status/state/words.ts';
import { type LeaderAnswer, titleOf } from '../status/index.ts';
import { escapeControls } from '../telemetry/index.ts';

/** The outage for which resources of a shoot are held. */
export interface ShootOutage {
  /** Name of its cluster: the namespace of its control plane. */
  readonly cluster: string;
  /** True if a release is refused: a prober sees that the outage continues, or a leader that did not respond would restore the resources if it were over. */
  readonly isRefused: boolean;
  /** The evidence, in one line. */
  readonly words: string;
}

interface OutageInput {
  readonly held: readonly HeldResource[];
  readonly leader: LeaderAnswer;
  /** Current time, in milliseconds since the epoch. */
  readonly now: number;
}

/** Names a shoot, and its seed if its Clusters say it: the wrong seed must show before a release. */
const nameOf = (shoot: ShootStatus, seed: string | undefined): string => {
  const of = seed === undefined ? [] : [`seed ${seed}`];
  if (shoot.project === undefined) return [shoot.namespace, ...of].join(', ');
  return `${titleOf(shoot)} (${[shoot.namespace, ...of].join(', ')})`;
};

/** Says what a prober sees of the outage. It does not see a blind shoot, nor one that it does not probe or has not judged yet. */
const seenOutage = (
  shoot: ShootStatus,
  { now, seed }: { readonly now: number; readonly seed?: string },
): ShootOutage => {
  const { namespace, state, since, verdict, why, graceMs } = shoot;
  const age = since === undefined ? '' : ` for ${formatAge(now - Date.parse(since))}`;
  const head = `${nameOf(shoot, seed)}: ${stateInWords(shoot)}${age}: ${why}`;
  const told = (isRefused: boolean, means: string): ShootOutage => ({
    cluster: namespace,
    isRefused,
    words: escapeControls(`${head}${means}`),
  });
  if (state === 'blind') return told(false, '; whether its outage continues is not known');
  if (state === 'not probed' || verdict === undefined) {
    return told(false, '; nobody has judged whether its outage continues');
  }
  if (verdict !== 'unhealthy' && verdict !== 'confirming') return told(false, '');
  const lost = `kube-controller-manager gives up these nodes about ${formatAge(graceMs)} after it is restored`;
  return told(true, `; the outage continues, and ${lost}`);
};

const sinceAndWhy = (held: readonly HeldResource[], now: number): string => {
  const annotated = held.flatMap(({ annotations }) => readHeldAnnotation(annotations) ?? []);
  const since = Math.min(...annotated.flatMap(({ since: at }) => at ?? []));
  const reason = annotated.find(({ reason: why }) => why !== '')?.reason;
  const when = Number.isFinite(since)
    ? `held since ${new Date(since).toISOString()} (${formatAge(now - since)})`
    : 'held';
  return reason === undefined ? when : `${when}: ${reason}`;
};

/** Says what objects of the seed show alone: the annotation `held`, and the Lease. */
const annotatedOutage = (cluster: string, { held, leader, now }: OutageInput): ShootOutage => {
  const { objects, answer } = leader;
  const isLed = answer?.leads !== true && objects.lease?.isFresh === true && objects.lease.holder !== '';
  const unknown = 'whether its outage continues is not known';
  const means = isLed ? `${unknown}: the leader did not respond, which restores when it is over` : unknown;
  return { cluster, isRefused: isLed, words: escapeControls(`${cluster}: ${sinceAndWhy(held, now)}; ${means}`) };
};

/** Judges the outage of each shoot with held resources, sorted by cluster. */
export const judgeOutages = (input: OutageInput): readonly ShootOutage[] => {
  const { held, leader, now } = input;
  const clusters = [...new Set(held.map(({ cluster }) => cluster))].toSorted();
  return clusters.map((namespace) => {
    const shoot = leader.answer?.shoots.find((one) => one.namespace === namespace);
    if (shoot !== undefined) return seenOutage(shoot, { now, seed: leader.answer?.seed });
    return annotatedOutage(namespace, { ...input, held: held.filter(({ cluster }) => cluster === namespace) });
  });
};

/** Lists the released shoots that a prober still sees in an outage, or does not see, a line each, with the command that ends the pause. */
export const stillInOutage = (
  { answer }: LeaderAnswer,
  clusters: ReadonlySet<string>,
  resume: string,
): readonly string[] =>
  (answer?.shoots ?? [])
    .filter(({ namespace, expired, state }) => clusters.has(namespace) && (expired > 0 || state === 'blind'))
    .map((shoot) => {
      const counts = shoot.state === 'blind' ? shoot.why : `still ${leasesInWords(shoot)}`;
      return escapeControls(`${nameOf(shoot, answer?.seed)}: ${counts}; ${resume} protects it again`);
    });
