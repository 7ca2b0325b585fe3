import { formatGoDuration } from '../../../src/kubernetes/api/duration.ts';
import { seconds } from '../line.ts';
import { type ShootSnapshot, type Snapshot, isUp, shootIn } from '../snapshot.ts';
import type { Finding } from '../story.ts';

export type CrashPhase = 'calm' | 'outage' | 'recovery' | 'over';

export interface CrashPlan {
  readonly withWeeder: boolean;
  /** Names of the shoots that lose etcd: the one that is weeded, and the one that is not. */
  readonly victim: string;
  readonly twin: string;
  /** The StatefulSet that goes away. */
  readonly etcd: string;
  /** Deployments that depend on it, kube-apiserver first, the others through it. */
  readonly chain: readonly [apiserver: string, ...others: string[]];
  readonly longestBackOffMs: number;
  /** Pods live so many times as fast as real ones. */
  readonly haste: number;
}

/** What has been seen of one shoot. Times in milliseconds since the epoch. */
export interface CrashEvidence {
  /** Deployments of which a pod was in CrashLoopBackOff. */
  readonly looped: ReadonlySet<string>;
  readonly longestBackOffMs: number;
  /** Names of pods that were deleted. */
  readonly deleted: ReadonlySet<string>;
  /** Names of pods that the weeder left an Event about. */
  readonly weeded: ReadonlySet<string>;
  /** A Deployment was scaled or marked. */
  readonly isScaled: boolean;
  readonly etcdReadyAt?: number;
  /** When all of the chain was ready after that. */
  readonly wholeAt?: number;
}

export interface Evidence {
  readonly victim: CrashEvidence;
  readonly twin: CrashEvidence;
}

const none: CrashEvidence = {
  looped: new Set(),
  longestBackOffMs: 0,
  deleted: new Set(),
  weeded: new Set(),
  isScaled: false,
};

export const noEvidence: Evidence = { victim: none, twin: none };

interface About {
  readonly phase: CrashPhase;
  readonly plan: CrashPlan;
  readonly previous: Snapshot | undefined;
}

const deletedSince = (before: ShootSnapshot | undefined, { pods }: ShootSnapshot): readonly string[] => {
  const kept = new Set(pods.filter(({ deleting }) => !deleting).map(({ uid }) => uid));
  return (before?.pods ?? []).filter(({ uid, deleting }) => !deleting && !kept.has(uid)).map(({ name }) => name);
};

const isWhole = ({ deployments }: ShootSnapshot, { chain }: CrashPlan): boolean =>
  chain.every((name) => deployments.some((deployment) => deployment.name === name && isUp(deployment)));

const gatherIn = (evidence: CrashEvidence, about: About & { shoot: ShootSnapshot; wall: number }): CrashEvidence => {
  const { phase, plan, previous, shoot, wall } = about;
  const looping = shoot.pods.filter(({ backOff }) => backOff !== undefined);
  const before = previous?.shoots.find(({ name }) => name === shoot.name);
  const isEtcdReady = shoot.pods.some(({ component, ready }) => component === plan.etcd && ready);
  const etcdReadyAt = evidence.etcdReadyAt ?? (phase === 'recovery' && isEtcdReady ? wall : undefined);
  const isBack = etcdReadyAt !== undefined && isWhole(shoot, plan);
  const wholeAt = evidence.wholeAt ?? (isBack ? wall : undefined);
  return {
    looped: new Set([...evidence.looped, ...looping.map(({ component }) => component)]),
    longestBackOffMs: Math.max(evidence.longestBackOffMs, ...looping.map(({ backOff }) => backOff?.ms ?? 0)),
    deleted: new Set([...evidence.deleted, ...deletedSince(before, shoot)]),
    weeded: new Set([...evidence.weeded, ...shoot.weeded]),
    isScaled: evidence.isScaled || shoot.deployments.some(({ replicas, active }) => replicas === 0 || active),
    ...(etcdReadyAt === undefined ? {} : { etcdReadyAt }),
    ...(wholeAt === undefined ? {} : { wholeAt }),
  };
};

/** Adds what `snapshot` shows. */
export const gather = (evidence: Evidence, snapshot: Snapshot, about: About): Evidence => {
  const { wall } = snapshot;
  const { victim, twin } = about.plan;
  return {
    victim: gatherIn(evidence.victim, { ...about, wall, shoot: shootIn(snapshot, victim) }),
    twin: gatherIn(evidence.twin, { ...about, wall, shoot: shootIn(snapshot, twin) }),
  };
};

/** As long as it takes real pods. */
export const atRealSpeed = (ms: number, { haste }: CrashPlan): string =>
  formatGoDuration(Math.round((ms * haste) / 1_000) * 1_000).replace(/m0s$/, 'm');

/** From etcd's return to the last Deployment's, in milliseconds; undefined while that lasts. */
export const recoveryMs = ({ etcdReadyAt, wholeAt }: CrashEvidence): number | undefined =>
  etcdReadyAt === undefined || wholeAt === undefined ? undefined : wholeAt - etcdReadyAt;

const comparison = ({ victim, twin }: Evidence, plan: CrashPlan): Pick<Finding, 'seen' | 'text'> => {
  const [weeded, alone] = [recoveryMs(victim), recoveryMs(twin)];
  const isFair = victim.weeded.size > 0 && twin.deleted.size === 0;
  if (!isFair || weeded === undefined || weeded >= (alone ?? Infinity)) {
    return { seen: false, text: `back before ${plan.twin}, whose pods wait for their next start` };
  }
  const took = (ms: number): string => `in ${seconds(ms)} (really ${atRealSpeed(ms, plan)})`;
  const other = alone === undefined ? 'is still waiting' : took(alone);
  return { seen: true, text: `back ${took(weeded)}, ${plan.twin} ${other}` };
};

/** What the story is to show, and whether it did. */
export const findings = (evidence: Evidence, plan: CrashPlan): readonly Finding[] => {
  const { victim: about, chain } = plan;
  const { deleted, weeded, isScaled } = evidence.victim;
  const areLooped = [evidence.victim, evidence.twin].every((shoot) => chain.every((part) => shoot.looped.has(part)));
  const isWeeded = weeded.size > 1 && [...deleted].every((pod) => weeded.has(pod));
  const count = isWeeded ? `${String(weeded.size)} ` : '';
  return [
    { seen: areLooped, about, text: `without etcd all ${String(chain.length)} Deployments crash-looped` },
    { seen: isWeeded, about, text: `etcd back: ${count}waiting pods deleted, each with an Event` },
    { about, ...comparison(evidence, plan) },
    { seen: !isScaled, about, text: 'left alone by the prober: it was no network outage' },
  ];
};
