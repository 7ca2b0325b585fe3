import type { Deed } from '../acts.ts';
import { tellChanges } from '../changes.ts';
import { type Line, line } from '../line.ts';
import { type Snapshot, shootIn } from '../snapshot.ts';
import { tellOnce } from '../story.ts';
import { type Phase, type Plan, allHeldAt, gather, noEvidence } from './evidence.ts';
import { type Facts, type Moment, type Tale, isGraceOver, remarksOf } from './remarks.ts';

type Cue = 'cut' | 'repair' | 'end';

export interface Scene {
  readonly tale: Tale;
  readonly lines: readonly Line[];
  /** What the narrator does next. */
  readonly deeds: readonly Deed[];
}

export const beginTale: Tale = {
  phase: 'calm',
  since: { at: 0, wall: 0 },
  evidence: noEvidence,
  told: new Set(),
};

const calmMs = 4_000;
const longestOutageMs = 36_000;
const longestRecoveryMs = 28_000;

/** When the outage shows as far as it will: KCM would give up nodes now, or does. */
export const isTimeForCare = ({ phase, evidence }: Tale, { wall }: Snapshot): boolean =>
  phase === 'outage' && wall > (evidence.firstGraceEnd ?? Infinity);

const cueOf = (moment: Moment, { isWatched, hasCareAnswered }: Facts): Cue | undefined => {
  const { tale, snapshot, plan } = moment;
  const { phase, since, evidence } = tale;
  const elapsed = snapshot.at - since.at;
  switch (phase) {
    case 'calm':
      return isWatched && elapsed >= calmMs ? 'cut' : undefined;
    case 'outage': {
      const isProtected =
        allHeldAt(evidence, plan) !== undefined && isGraceOver(moment, evidence.lastGraceEnd ?? Infinity);
      const isDamaged = evidence.machinesReplaced.size > 0;
      return (hasCareAnswered && (isProtected || isDamaged)) || elapsed >= longestOutageMs ? 'repair' : undefined;
    }
    case 'recovery': {
      const { nodes } = shootIn(snapshot, plan.victim);
      const isReady = nodes.every(({ ready, renewedAt = 0 }) => ready === 'True' && renewedAt > since.wall);
      return (evidence.restoredAt !== undefined && isReady) || elapsed >= longestRecoveryMs ? 'end' : undefined;
    }
    case 'over':
      return undefined;
  }
};

const deedsOf = (cue: Cue, { victim }: Plan): readonly Deed[] => {
  const told = (text: string): Line => line(text, victim, 'act');
  switch (cue) {
    case 'cut':
      return [
        {
          act: { kind: 'cut kubelets', shoot: victim },
          told: told('the network between its kubelets and its API server is cut'),
        },
      ];
    case 'repair':
      return [{ act: { kind: 'connect kubelets', shoot: victim }, told: told('the network is repaired') }];
    case 'end':
      return [];
  }
};

const nextPhase: Readonly<Record<Cue, Phase>> = { cut: 'outage', repair: 'recovery', end: 'over' };

const changesOf = ({ tale, snapshot, plan }: Moment): readonly Line[] =>
  [plan.victim, ...plan.others].flatMap((name) => {
    const before = tale.previous?.shoots.find((shoot) => shoot.name === name);
    return before === undefined ? [] : tellChanges(before, shootIn(snapshot, name), plan.order);
  });

/** Takes in one look at the world: what is to be told of it, and what to do next. Pure. */
export const advance = (tale: Tale, snapshot: Snapshot, { plan, facts }: { plan: Plan; facts: Facts }): Scene => {
  if (tale.phase === 'over') return { tale, lines: [], deeds: [] };
  const evidence = gather(tale.evidence, snapshot, { phase: tale.phase, plan });
  const moment = { tale: { ...tale, evidence }, snapshot, plan };
  const { lines, told } = tellOnce(tale.told, tale.phase, remarksOf(moment, facts));
  const cue = cueOf(moment, facts);
  const { at, wall } = snapshot;
  const since = cue === undefined ? tale.since : { at, wall };
  const phase = cue === undefined ? tale.phase : nextPhase[cue];
  return {
    tale: { phase, since, previous: snapshot, evidence, told },
    lines: [...changesOf(moment), ...lines],
    deeds: cue === undefined ? [] : deedsOf(cue, plan),
  };
};
