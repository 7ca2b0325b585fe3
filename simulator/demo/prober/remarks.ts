import { plural } from '../changes.ts';
import { type Line, line, seconds } from '../line.ts';
import { type Snapshot, leaseAges, shootIn } from '../snapshot.ts';
import type { Remarks } from '../story.ts';
import { type Evidence, type Phase, type Plan, allHeldAt } from './evidence.ts';

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

export interface Facts {
  /** Whoever is to watch over the shoots does so. */
  readonly isWatched: boolean;
  /** The outage lasts until care has looked at it. */
  readonly hasCareAnswered: boolean;
}

/** Leases are told so often while they age. */
const ageingEveryMs = 4_000;

export interface Moment {
  readonly tale: Tale;
  readonly snapshot: Snapshot;
  readonly plan: Plan;
}

const calmRemarks = ({ snapshot, plan }: Moment, { isWatched }: Facts): Remarks => {
  const nodes = snapshot.shoots.reduce((sum, shoot) => sum + shoot.nodes.length, 0);
  const ages = snapshot.shoots.flatMap((shoot) => leaseAges(shoot, snapshot.wall));
  const oldest = seconds(Math.max(...ages));
  return [
    ['up', true, () => line(`all is up: ${plural(nodes, 'node')} Ready, no lease older than ${oldest}`)],
    [
      'watched',
      plan.withProber && isWatched,
      () => line('the prober has looked at all of them, and finds them healthy'),
    ],
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
  const isCrossed = ages.length > 0 && expired >= fraction * ages.length;
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

export const isGraceOver = ({ snapshot, plan }: Moment, lastGraceEnd: number): boolean =>
  snapshot.wall > lastGraceEnd + plan.monitorPeriodMs;

const recoveryRemarks = ({ tale, snapshot, plan }: Moment): Remarks => {
  const { nodes } = shootIn(snapshot, plan.victim);
  const fresh = nodes.filter(({ renewedAt = 0 }) => renewedAt > tale.since.wall).length;
  const count = `${String(fresh)} of ${String(nodes.length)}`;
  return [[`fresh ${String(fresh)}`, fresh > 0, () => line(`kubelets are back: ${count} leases renewed`, plan.victim)]];
};

export const remarksOf = (moment: Moment, facts: Facts): Remarks => {
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
