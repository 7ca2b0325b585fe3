import { plural, tellChanges } from './changes.ts';
import { allHeldAt, type Evidence, gather, noEvidence, type Phase, type Plan, shootIn } from './evidence.ts';
import { type Line, line, seconds } from './line.ts';
import { leaseAges, type Snapshot } from './snapshot.ts';

/** Where the story stands. */
export interface Tale {
  readonly phase: Phase;
  /** Of `Snapshot.at` and `Snapshot.wall`, when the phase began. */
  readonly since: { readonly at: number; readonly wall: number };
  readonly previous?: Snapshot;
  readonly evidence: Evidence;
  /** What has been told and is not to be repeated. */
  readonly told: ReadonlySet<string>;
}

export type Cue = 'cut' | 'repair' | 'end';

export interface Scene {
  readonly tale: Tale;
  readonly lines: readonly Line[];
  /** What the narrator does next. */
  readonly cue?: Cue;
}

export interface Facts {
  /** The prober has judged every shoot. */
  readonly isWatched: boolean;
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
/** Leases are told so often while they age. */
const ageingEveryMs = 4_000;

interface Moment {
  readonly tale: Tale;
  readonly snapshot: Snapshot;
  readonly plan: Plan;
}

/** Lines by what they say, each told once. */
type Remarks = readonly (readonly [key: string, isDue: boolean, line: () => Line])[];

const calmRemarks = ({ snapshot, plan }: Moment, { isWatched }: Facts): Remarks => {
  const nodes = snapshot.shoots.reduce((sum, shoot) => sum + shoot.nodes.length, 0);
  const ages = snapshot.shoots.flatMap((shoot) => leaseAges(shoot, snapshot.wall));
  const oldest = seconds(Math.max(...ages));
  return [
    ['up', true, () => line(`all is up: ${plural(nodes, 'node')} Ready, no lease older than ${oldest}`)],
    ['watched', isWatched, () => line('the prober has looked at all of them, and finds them healthy')],
    ['unwatched', !plan.withProber, () => line('no prober runs: nobody will do anything about what comes')],
  ];
};

const ageing = ({ snapshot, plan }: Moment): Line => {
  const ages = leaseAges(shootIn(snapshot, plan.victim), snapshot.wall);
  const expired = ages.filter((age) => age >= plan.limitMs).length;
  const [youngest = 0, oldest = 0] = [ages[0], ages.at(-1)];
  const range = `leases ${seconds(youngest)} to ${seconds(oldest)} old`;
  return line(`${range}; ${String(expired)} of ${String(ages.length)} expired`, plan.victim);
};

const outageRemarks = (moment: Moment): Remarks => {
  const { tale, snapshot, plan } = moment;
  const { victim, limitMs, fraction, graceMs } = plan;
  const { firstGraceEnd = Infinity, lastGraceEnd = Infinity, nodesGivenUp } = tale.evidence;
  const shoot = shootIn(snapshot, victim);
  const ages = leaseAges(shoot, snapshot.wall);
  const expired = ages.filter((age) => age >= limitMs).length;
  const held = allHeldAt(tale.evidence, plan);
  const elapsed = snapshot.at - tale.since.at;
  const step = Math.floor(elapsed / ageingEveryMs);
  const deadline = seconds(snapshot.at + firstGraceEnd - snapshot.wall);
  const isCrossed = expired >= fraction * ages.length;
  const stillReady = `all ${String(shoot.nodes.length)} still Ready`;
  return [
    [
      'race',
      true,
      () => line(`KCM gives a silent node ${seconds(graceMs)}: over for the first at ${deadline}`, victim),
    ],
    [`ages ${String(step)}`, step > 0 && held === undefined && !isCrossed, () => ageing(moment)],
    [
      'threshold',
      isCrossed,
      () =>
        line(
          `${String(expired)} of ${plural(ages.length, 'lease')} expired: threshold ${String(fraction)} crossed`,
          victim,
        ),
    ],
    [
      'held',
      held !== undefined,
      () =>
        held !== undefined && held < firstGraceEnd
          ? line(`all are down, ${seconds(firstGraceEnd - held)} before KCM gives up the first node`, victim, 'good')
          : line('all are down, but too late', victim, 'bad'),
    ],
    [
      'grace',
      snapshot.wall > firstGraceEnd && held !== undefined && nodesGivenUp.size === 0,
      () => line(`KCM would now give up nodes; it is down: ${stillReady}`, victim, 'good'),
    ],
    [
      'end of grace',
      isGraceOver(moment, lastGraceEnd) && held !== undefined && nodesGivenUp.size === 0,
      () => line(`by now KCM would have given up every node; ${stillReady}`, victim, 'good'),
    ],
  ];
};

const isGraceOver = ({ snapshot, plan }: Moment, lastGraceEnd: number): boolean =>
  snapshot.wall > lastGraceEnd + plan.monitorPeriodMs;

const recoveryRemarks = ({ tale, snapshot, plan }: Moment): Remarks => {
  const { nodes } = shootIn(snapshot, plan.victim);
  const fresh = nodes.filter(({ renewedAt = 0 }) => renewedAt > tale.since.wall).length;
  const count = `${String(fresh)} of ${String(nodes.length)}`;
  return [[`fresh ${String(fresh)}`, fresh > 0, () => line(`kubelets are back: ${count} leases renewed`, plan.victim)]];
};

const remarksOf = (moment: Moment, facts: Facts): Remarks => {
  switch (moment.tale.phase) {
    case 'calm':
      return calmRemarks(moment, facts);
    case 'outage':
      return outageRemarks(moment);
    case 'recovery':
      return recoveryRemarks(moment);
    case 'over':
      return [];
  }
};

const cueOf = (moment: Moment, { isWatched }: Facts): Cue | undefined => {
  const { tale, snapshot, plan } = moment;
  const { phase, since, evidence } = tale;
  const elapsed = snapshot.at - since.at;
  switch (phase) {
    case 'calm':
      return (isWatched || !plan.withProber) && elapsed >= calmMs ? 'cut' : undefined;
    case 'outage': {
      const isProtected =
        allHeldAt(evidence, plan) !== undefined && isGraceOver(moment, evidence.lastGraceEnd ?? Infinity);
      const isDamaged = evidence.machinesReplaced.size > 0;
      return isProtected || isDamaged || elapsed >= longestOutageMs ? 'repair' : undefined;
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

const actLine = (cue: Cue, { victim }: Plan): Line => {
  switch (cue) {
    case 'cut':
      return line('the network between its kubelets and its API server is cut', victim, 'act');
    case 'repair':
      return line('the network is repaired', victim, 'act');
    case 'end':
      return line('the end: what was seen of what the prober is for', '', 'act');
  }
};

const nextPhase: Readonly<Record<Cue, Phase>> = { cut: 'outage', repair: 'recovery', end: 'over' };

const changesOf = ({ tale, snapshot, plan }: Moment): readonly Line[] =>
  snapshot.shoots.flatMap((shoot) => {
    const before = tale.previous?.shoots.find(({ name }) => name === shoot.name);
    return before === undefined ? [] : tellChanges(before, shoot, plan.order);
  });

/** Takes in one look at the world: what is to be told of it, and what to do next. Pure. */
export const advance = (tale: Tale, snapshot: Snapshot, { plan, facts }: { plan: Plan; facts: Facts }): Scene => {
  const evidence = gather(tale.evidence, snapshot, { phase: tale.phase, plan });
  const moment = { tale: { ...tale, evidence }, snapshot, plan };
  const due = remarksOf(moment, facts).filter(([key, isDue]) => isDue && !tale.told.has(`${tale.phase} ${key}`));
  const cue = cueOf(moment, facts);
  const lines = [
    ...changesOf(moment),
    ...due.map(([, , make]) => make()),
    ...(cue === undefined ? [] : [actLine(cue, plan)]),
  ];
  const told = new Set([...tale.told, ...due.map(([key]) => `${tale.phase} ${key}`)]);
  const { at, wall } = snapshot;
  const since = cue === undefined ? tale.since : { at, wall };
  const phase = cue === undefined ? tale.phase : nextPhase[cue];
  return { tale: { phase, since, previous: snapshot, evidence, told }, lines, ...(cue === undefined ? {} : { cue }) };
};
