import type { LeaderFate } from '../harness/replica-pair.ts';
import type { Conditions } from '../worlds/arena.ts';

export const kindNames = [
  'plain',
  'leader-killed',
  'leader-stopped',
  'leader-cut-off',
  'late-kubelets',
  'wrong-clocks',
  'failing-answers',
] as const;
export type KindName = (typeof kindNames)[number];

/** How much must be left of KCM's grace when its process is gone, in milliseconds. */
export interface Aims {
  readonly least: number;
  readonly median?: number;
}

/** A kind of outage: the kubelets of a shoot fall silent, and something else is wrong. */
export interface Kind {
  readonly name: KindName;
  /** Two replicas run, and this becomes of the one that leads. */
  readonly fate?: LeaderFate;
  /** The kubelets come back within the round: all at once, or half of them late. */
  readonly kubeletsReturn?: 'together' | 'half late';
  readonly clocks: 'right' | 'wrong';
  readonly answersFail: boolean;
  /** An unprotected shoot loses all of its nodes beside it. */
  readonly hasControl: boolean;
  readonly aims: Aims;
  /** What a round takes, by our program. */
  readonly roundMs: number;
}

const usual = {
  clocks: 'right',
  answersFail: false,
  hasControl: false,
  aims: { least: 2_000, median: 6_000 },
  roundMs: 145_000,
} as const;
const ofLeader = { ...usual, kubeletsReturn: 'together', roundMs: 215_000 } as const;

export const kinds: Readonly<Record<KindName, Kind>> = {
  plain: { ...usual, name: 'plain', hasControl: true, aims: { least: 7_000 } },
  'leader-killed': { ...ofLeader, name: 'leader-killed', fate: 'killed' },
  'leader-stopped': { ...ofLeader, name: 'leader-stopped', fate: 'stopped' },
  'leader-cut-off': { ...ofLeader, name: 'leader-cut-off', fate: 'cut off' },
  'late-kubelets': { ...usual, name: 'late-kubelets', kubeletsReturn: 'half late', roundMs: 275_000 },
  'wrong-clocks': { ...usual, name: 'wrong-clocks', clocks: 'wrong' },
  'failing-answers': { ...usual, name: 'failing-answers', answersFail: true },
};

const fiveMinutesMs = 300_000;
/** By shoot: all clocks of its nodes are fast, or slow, or every other one is fast and the others slow. */
const wrongShifts: readonly Conditions['clockShiftMs'][] = [
  () => fiveMinutesMs,
  () => -fiveMinutesMs,
  (node) => (node % 2 === 0 ? fiveMinutesMs : -fiveMinutesMs),
];

/** What a shoot finds in an outage of this kind. `turn` counts its shoots and rounds, so that each variant has its turn. */
export const conditionsOf = ({ clocks, answersFail }: Kind, turn: number): Conditions => {
  const shift = clocks === 'wrong' ? wrongShifts[turn % wrongShifts.length] : undefined;
  return { clockShiftMs: shift ?? (() => 0), answersFail };
};

const isKind = (name: string): name is KindName => kindNames.some((kind) => kind === name);

/** Of names with commas between them. Throws with what is wrong. */
export const kindsOf = (text: string): readonly Kind[] =>
  text.split(',').map((name) => {
    if (!isKind(name)) throw new Error(`--outages ${name}: there are ${kindNames.join(', ')}`);
    return kinds[name];
  });
