import { seconds } from '../line.ts';
import { type ShootSnapshot, type Snapshot, isHeld, isUp, leaseAges, shootIn } from '../snapshot.ts';
import type { Finding } from '../story.ts';

export type Phase = 'calm' | 'outage' | 'recovery' | 'over';

export interface Plan {
  readonly withProber: boolean;
  /** Name of the shoot that is cut off. */
  readonly victim: string;
  /** Names of shoots that nothing happens to. */
  readonly others: readonly string[];
  /** Deployments in the order in which they are to be scaled down. */
  readonly order: readonly string[];
  readonly fraction: number;
  /** Age from which a lease counts as expired. */
  readonly limitMs: number;
  readonly graceMs: number;
  /** KCM looks at its nodes so often. */
  readonly monitorPeriodMs: number;
}

/** What has been seen so far that the result depends on. Times in milliseconds since the epoch. */
export interface Evidence {
  /** The victim before its outage. */
  readonly baseline?: ShootSnapshot;
  /** When each Deployment was first seen at 0 with both annotations. */
  readonly heldAt: ReadonlyMap<string, number>;
  /** When the grace period ends for the node that was silent first, and for the one silent last. */
  readonly firstGraceEnd?: number;
  readonly lastGraceEnd?: number;
  readonly nodesGivenUp: ReadonlySet<string>;
  readonly machinesReplaced: ReadonlySet<string>;
  readonly restoredAt?: number;
  /** Other shoots that were seen with anything down, not ready or stale. */
  readonly disturbed: ReadonlySet<string>;
}

export const noEvidence: Evidence = {
  heldAt: new Map(),
  nodesGivenUp: new Set(),
  machinesReplaced: new Set(),
  disturbed: new Set(),
};

const isWell = (shoot: ShootSnapshot, wall: number, limitMs: number): boolean =>
  shoot.deployments.every(isUp) &&
  shoot.nodes.every(({ ready }) => ready === 'True') &&
  leaseAges(shoot, wall).every((age) => age < limitMs);

const isRestored = (shoot: ShootSnapshot, baseline: ShootSnapshot | undefined): boolean =>
  shoot.deployments.every(isUp) &&
  baseline?.deployments.every(({ name, replicas }) =>
    shoot.deployments.some((deployment) => deployment.name === name && deployment.replicas === replicas),
  ) === true;

const graceEnds = (shoot: ShootSnapshot, { graceMs }: Plan): Pick<Evidence, 'firstGraceEnd' | 'lastGraceEnd'> => {
  const ends = shoot.nodes.flatMap(({ renewedAt }) => (renewedAt === undefined ? [] : [renewedAt + graceMs]));
  return ends.length === 0 ? {} : { firstGraceEnd: Math.min(...ends), lastGraceEnd: Math.max(...ends) };
};

/** Adds what `snapshot` shows. The first snapshot of the outage has the last renewals before it. */
export const gather = (evidence: Evidence, snapshot: Snapshot, about: { phase: Phase; plan: Plan }): Evidence => {
  const { phase, plan } = about;
  const { wall } = snapshot;
  const victim = shootIn(snapshot, plan.victim);
  const others = plan.others.map((name) => shootIn(snapshot, name));
  const disturbed = others.filter((shoot) => !isWell(shoot, wall, plan.limitMs)).map(({ name }) => name);
  const seen = { ...evidence, disturbed: new Set([...evidence.disturbed, ...disturbed]) };
  if (phase === 'calm') return { ...seen, baseline: victim };
  const heldAt = new Map(seen.heldAt);
  for (const deployment of victim.deployments.filter(isHeld)) {
    if (!heldAt.has(deployment.name)) heldAt.set(deployment.name, wall);
  }
  const lost = victim.nodes.filter(({ ready }) => ready !== 'True').map(({ name }) => name);
  const gone = (evidence.baseline?.machines ?? []).filter((machine) => !victim.machines.includes(machine));
  const restored = phase === 'recovery' && isRestored(victim, evidence.baseline) ? { restoredAt: wall } : {};
  return {
    ...seen,
    ...(seen.firstGraceEnd === undefined ? graceEnds(victim, plan) : {}),
    ...(seen.restoredAt === undefined ? restored : {}),
    heldAt,
    nodesGivenUp: new Set([...seen.nodesGivenUp, ...lost]),
    machinesReplaced: new Set([...seen.machinesReplaced, ...gone]),
  };
};

/** When the last Deployment was held; undefined while one is not. */
export const allHeldAt = ({ heldAt }: Evidence, { order }: Plan): number | undefined => {
  const times = order.flatMap((name) => heldAt.get(name) ?? []);
  return times.length === order.length ? Math.max(...times) : undefined;
};

const isInOrder = ({ heldAt }: Evidence, { order }: Plan): boolean => {
  const times = order.map((name) => heldAt.get(name) ?? Number.POSITIVE_INFINITY);
  const last = times.at(-1) ?? 0;
  return times.every((time) => time <= last);
};

/** What the story is to show, and whether it did. */
export const findings = (evidence: Evidence, plan: Plan): readonly Finding[] => {
  const held = allHeldAt(evidence, plan);
  const { firstGraceEnd, nodesGivenUp, machinesReplaced, restoredAt, disturbed } = evidence;
  const isEarly = held !== undefined && firstGraceEnd !== undefined && held < firstGraceEnd;
  const margin = isEarly ? `${seconds(firstGraceEnd - held)} before` : 'before';
  const { victim: about, others } = plan;
  return [
    {
      seen: isEarly && isInOrder(evidence, plan),
      about,
      text: `down in order, annotated, ${margin} KCM's grace ended`,
    },
    { seen: nodesGivenUp.size === 0, about, text: 'no node turned Unknown' },
    { seen: machinesReplaced.size === 0, about, text: 'no machine was replaced' },
    {
      seen: held !== undefined && restoredAt !== undefined,
      about,
      text: 'restored: the former counts, annotations gone',
    },
    { seen: disturbed.size === 0, about: others.join(), text: 'was never touched' },
  ];
};
