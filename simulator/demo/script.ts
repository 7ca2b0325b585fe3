import { type StatusSnapshot, isUp, shootIn } from './snapshot.ts';
import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import type { WorldSource } from '../world/index.ts';
import { cutShoot, demoTiming, twinName, weededShoot } from './setting.ts';
import type { DemoFault } from './stage.ts';

/** The watchdogs that run. */
export interface Watchdogs {
  readonly withProber: boolean;
  readonly withWeeder: boolean;
  /** Cluster source of the simulated seed. Care runs only with `gardener`, because it reads Gardener's objects. Default: gardener. */
  readonly source?: WorldSource;
  /** Number of shoots in the seed. Default: those of the demo. */
  readonly shoots?: number;
}

/** Everything observed and injected so far. */
export interface Recording {
  readonly snapshots: readonly StatusSnapshot[];
  /** Injection times by kind of fault, in milliseconds since the epoch. */
  readonly injectedAt: ReadonlyMap<DemoFault['kind'], number>;
  /** True if care has ended, successfully or not, or does not run. */
  readonly hasCareEnded: boolean;
}

/** A step of the scripted demo. Times are milliseconds since the watchdogs began to observe every shoot. */
export interface Step {
  readonly at: number;
  /** The step waits for this condition, but not beyond `latest`. */
  readonly when?: { readonly holds: (recording: Recording) => boolean; readonly latest: number };
  readonly faults?: readonly DemoFault[];
  readonly runsCare?: true;
  /** Name of a shoot. */
  readonly about?: string;
  readonly sentence: string;
}

const isCareDone = ({ snapshots, hasCareEnded }: Recording): boolean => {
  const [first, last] = [snapshots[0], snapshots.at(-1)];
  if (first === undefined || last === undefined) return false;
  const [before, now] = [shootIn(first, cutShoot), shootIn(last, cutShoot)];
  const isReplaced = before.machines.some((machine) => !now.machines.includes(machine));
  return hasCareEnded && (now.state === 'held' || isReplaced);
};

const isAllBack = ({ snapshots, injectedAt }: Recording): boolean => {
  const last = snapshots.at(-1);
  const connectedAt = injectedAt.get('connect kubelets');
  if (last === undefined || connectedAt === undefined || !injectedAt.has('mend etcd')) return false;
  const { nodes } = shootIn(last, cutShoot);
  return (
    nodes.every(({ ready, renewedAt = 0 }) => ready === 'True' && renewedAt > connectedAt) &&
    last.shoots.every(({ components }) => components.every(isUp))
  );
};

/** How long the demo shows that the prober waits for late kubelets, which half-open connections keep away; in milliseconds. */
const landingMs = 3_000;

const isLanding = ({ snapshots }: Recording): boolean => {
  const last = snapshots.at(-1);
  if (last === undefined) return false;
  const { state, since = last.at } = shootIn(last, cutShoot);
  return state === 'landing' && last.at - since >= landingMs;
};

/** Returns the steps of two simultaneous outages: one shoot loses its network, and two lose etcd, one of them unprotected. */
export const scriptOf = ({ withProber, withWeeder, source = 'gardener' }: Watchdogs): readonly Step[] => {
  const both = (kind: DemoFault['kind']): readonly DemoFault[] =>
    [weededShoot, twinName].map((shoot) => ({ kind, shoot }));
  const grace = formatGoDuration(demoTiming('script').graceMs);
  const prober = withProber
    ? 'the prober has probed all shoots: they are healthy'
    : 'no prober runs: the shoots are not protected';
  const weeder = withWeeder
    ? 'the weeder watches their services etcd and kube-apiserver'
    : 'no weeder runs: pods that crash-loop are left to their back-off';
  const steps: readonly Step[] = [
    { at: 0, sentence: prober },
    { at: 0, sentence: weeder },
    {
      at: 1_500,
      about: cutShoot,
      faults: [{ kind: 'cut kubelets', shoot: cutShoot }],
      sentence: 'the network between its kubelets and its API server is cut',
    },
    { at: 2_000, about: cutShoot, sentence: `KCM gives up a node that is silent for ${grace}` },
    {
      at: 3_500,
      about: weededShoot,
      faults: both('break etcd'),
      sentence: `its etcd fails, and that of ${twinName} as well`,
    },
    { at: 18_500, runsCare: true, sentence: 'care checks all shoots: dwd care --once' },
    { at: 23_000, about: weededShoot, faults: both('mend etcd'), sentence: 'etcd is repaired, in both' },
    { at: 25_000, about: twinName, sentence: 'no weeder deletes its pods: they wait for their next start' },
    {
      at: 25_000,
      when: { holds: isCareDone, latest: 42_000 },
      about: cutShoot,
      faults: [{ kind: 'connect some kubelets', shoot: cutShoot }],
      sentence: 'the network is repaired; two kubelets wait on dead connections',
    },
    {
      at: 25_000,
      when: { holds: isLanding, latest: 50_000 },
      about: cutShoot,
      faults: [{ kind: 'connect kubelets', shoot: cutShoot }],
      sentence: 'these two kubelets have reconnected',
    },
    {
      at: 30_000,
      when: { holds: isAllBack, latest: 75_000 },
      sentence: 'the end: the expected effects of the watchdogs',
    },
  ];
  return steps.filter(({ runsCare }) => runsCare !== true || source === 'gardener');
};
