import type { LeaderFault } from '../harness/replica-pair.ts';

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

/** A kind of outage: the kubelets of a shoot fall silent, and another fault is added. */
export interface Kind {
  /** Fault of the leading replica. If it is set, two replicas run. */
  readonly leaderFault?: LeaderFault;
  /** How the kubelets return within the round: all at once, or half of them late. Absent if they do not return. */
  readonly kubeletsReturn?: 'together' | 'half late';
  /** True if every other node's clock is five minutes fast, and the others are five minutes slow. */
  readonly areClocksWrong?: true;
  readonly answersFail?: true;
  /** True if the prober has an external probe in mode trigger. */
  readonly hasExternalProbe?: true;
  /** True if an unprotected shoot takes part as control; KCM must mark all its nodes. */
  readonly hasControl?: true;
}

export const kinds: Readonly<Record<KindName, Kind>> = {
  plain: { hasControl: true },
  'leader-killed': { leaderFault: 'killed', kubeletsReturn: 'together' },
  'leader-stopped': { leaderFault: 'stopped', kubeletsReturn: 'together' },
  'leader-cut-off': { leaderFault: 'cut off', kubeletsReturn: 'together' },
  'late-kubelets': { kubeletsReturn: 'half late' },
  'wrong-clocks': { areClocksWrong: true },
  'failing-answers': { answersFail: true },
  external: { hasExternalProbe: true },
};
