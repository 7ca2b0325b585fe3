import type { LeaderFault } from '../harness/replica-pair.ts';
import type { Conditions } from '../worlds/arena.ts';

export const kindNames = [
  'plain',
  'leader-killed',
  'leader-stopped',
  'leader-cut-off',
  'late-kubelets',
  'wrong-clocks',
  'failing-answers',
  'external',
] as const;
export type KindName = (typeof kindNames)[number];

/** Aims for the part of KCM's grace period that is left when its process has ended, in milliseconds. */
export interface Aims {
  readonly least: number;
  readonly median?: number;
}

/** A kind of outage: the kubelets of a shoot fall silent, and another fault is added. */
export interface Kind {
  readonly name: KindName;
  /** Fault of the leading replica. If it is set, two replicas run. */
  readonly leaderFault?: LeaderFault;
  /** How the kubelets return within the round: all at once, or half of them late. Absent if they do not return. */
  readonly kubeletsReturn?: 'together' | 'half late';
  readonly clocks?: 'wrong';
  readonly answersFail?: true;
  /** True if the prober has an external probe in mode trigger. */
  readonly hasExternalProbe?: true;
  /** True if an unprotected shoot takes part as control; KCM must mark all its nodes. */
  readonly hasControl?: true;
  readonly aims: Aims;
}

const usual = { aims: { least: 2_000, median: 6_000 } } as const;
const ofLeader = { ...usual, kubeletsReturn: 'together' } as const;

export const kinds: Readonly<Record<KindName, Kind>> = {
  plain: { ...usual, name: 'plain', hasControl: true, aims: { least: 7_000 } },
  'leader-killed': { ...ofLeader, name: 'leader-killed', leaderFault: 'killed' },
  'leader-stopped': { ...ofLeader, name: 'leader-stopped', leaderFault: 'stopped' },
  'leader-cut-off': { ...ofLeader, name: 'leader-cut-off', leaderFault: 'cut off' },
  'late-kubelets': { ...usual, name: 'late-kubelets', kubeletsReturn: 'half late' },
  'wrong-clocks': { ...usual, name: 'wrong-clocks', clocks: 'wrong' },
  'failing-answers': { ...usual, name: 'failing-answers', answersFail: true },
  external: { ...usual, name: 'external', hasExternalProbe: true },
};

const fiveMinutesMs = 300_000;
/** Variants for shoots: the clocks of all nodes are fast, all are slow, or every other one is fast and the rest are slow. */
const wrongShifts: readonly Conditions['clockShiftMs'][] = [
  () => fiveMinutesMs,
  () => -fiveMinutesMs,
  (node) => (node % 2 === 0 ? fiveMinutesMs : -fiveMinutesMs),
];

/** Conditions of a shoot in an outage of this kind. `turn` counts shoots and rounds, so that the variants alternate. */
export const conditionsOf = (kind: Kind, turn: number): Conditions => {
  const { clocks, answersFail = false, hasExternalProbe = false } = kind;
  const shift = clocks === 'wrong' ? wrongShifts[turn % wrongShifts.length] : undefined;
  return { clockShiftMs: shift ?? (() => 0), answersFail, addressBreaks: hasExternalProbe && turn % 2 === 1 };
};
