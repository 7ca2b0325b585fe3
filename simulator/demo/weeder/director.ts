import type { Act, Deed } from '../acts.ts';
import { plural, tellChanges } from '../changes.ts';
import { type Line, line } from '../line.ts';
import { type PodSnapshot, type Snapshot, shootIn } from '../snapshot.ts';
import { tellOnce } from '../story.ts';
import { type CrashPhase, type CrashPlan, type Evidence, gather, noEvidence } from './evidence.ts';
import { type Moment, remarksOf, waitingIn } from './remarks.ts';

/** Where the story stands. */
export interface CrashTale {
  readonly phase: CrashPhase;
  /** Of `Snapshot.at`, when the phase began. */
  readonly since: number;
  readonly previous?: Snapshot;
  readonly evidence: Evidence;
  /** What has been told and is not to be repeated. */
  readonly told: ReadonlySet<string>;
}

export interface CrashScene {
  readonly tale: CrashTale;
  readonly lines: readonly Line[];
  /** What the narrator does next. */
  readonly deeds: readonly Deed[];
}

export interface CrashFacts {
  /** Whoever is to watch over the shoots does so. */
  readonly isWatched: boolean;
}

export const beginCrashTale: CrashTale = { phase: 'calm', since: 0, evidence: noEvidence, told: new Set() };

/** Longer than that of the other story: one blow after the other is easier to follow. */
const calmMs = 6_000;
const longestOutageMs = 28_000;
/** Twice the longest back-off, and some: that of kube-apiserver, and then that of what needs it. */
const longestRecoveryMs = 34_000;

const isAtLongest = (pods: readonly PodSnapshot[], { chain, longestBackOffMs }: CrashPlan): boolean =>
  pods.some(({ component, backOff }) => component === chain[0] && backOff?.ms === longestBackOffMs);

const nextPhase = (moment: Moment, { isWatched }: CrashFacts): CrashPhase | undefined => {
  const { phase, elapsed, evidence, snapshot, plan } = moment;
  switch (phase) {
    case 'calm':
      return isWatched && elapsed >= calmMs ? 'outage' : undefined;
    case 'outage': {
      const areAtLongest = [plan.victim, plan.twin].every((name) => isAtLongest(shootIn(snapshot, name).pods, plan));
      return areAtLongest || elapsed >= longestOutageMs ? 'recovery' : undefined;
    }
    case 'recovery': {
      const areWhole = [evidence.victim, evidence.twin].every(({ wholeAt }) => wholeAt !== undefined);
      return areWhole || elapsed >= longestRecoveryMs ? 'over' : undefined;
    }
    case 'over':
      return undefined;
  }
};

/** What happens at the beginning of a phase: to both shoots, and told once. */
const deedsAt = (phase: CrashPhase, { victim, twin }: CrashPlan): readonly Deed[] => {
  const both = (kind: Act['kind'], text: string): readonly Deed[] => [
    { act: { kind, shoot: victim }, told: line(text, victim, 'act') },
    { act: { kind, shoot: twin } },
  ];
  switch (phase) {
    case 'outage':
      return both('break etcd', `its etcd fails, and that of ${twin} as well`);
    case 'recovery':
      return both('mend etcd', 'etcd is mended, in both');
    case 'calm':
    case 'over':
      return [];
  }
};

const changesOf = ({ snapshot, plan }: Moment, previous: Snapshot | undefined): readonly Line[] =>
  [plan.victim, plan.twin].flatMap((name) => {
    const before = previous?.shoots.find((shoot) => shoot.name === name);
    return before === undefined ? [] : tellChanges(before, shootIn(snapshot, name), plan.chain);
  });

const outlastingLines = ({ evidence, snapshot, plan }: Moment): readonly Line[] =>
  [plan.victim, plan.twin].flatMap((name) => {
    if ((name === plan.victim ? evidence.victim : evidence.twin).wholeAt !== undefined) return [];
    const waiting = waitingIn(shootIn(snapshot, name), plan).length;
    return [line(`this is where the demo ends: ${plural(waiting, 'pod')} still in back-off`, name, 'bad')];
  });

/** Takes in one look at the world: what is to be told of it, and what to do next. Pure. */
export const advanceCrashTale = (
  tale: CrashTale,
  snapshot: Snapshot,
  { plan, facts }: { readonly plan: CrashPlan; readonly facts: CrashFacts },
): CrashScene => {
  const { phase, previous } = tale;
  if (phase === 'over') return { tale, lines: [], deeds: [] };
  const evidence = gather(tale.evidence, snapshot, { phase, plan, previous });
  const moment: Moment = { phase, elapsed: snapshot.at - tale.since, evidence, snapshot, plan };
  const { lines, told } = tellOnce(tale.told, phase, remarksOf(moment, facts));
  const next = nextPhase(moment, facts);
  return {
    tale: {
      phase: next ?? phase,
      since: next === undefined ? tale.since : snapshot.at,
      previous: snapshot,
      evidence,
      told,
    },
    lines: [...changesOf(moment, previous), ...lines, ...(next === 'over' ? outlastingLines(moment) : [])],
    deeds: next === undefined ? [] : deedsAt(next, plan),
  };
};
