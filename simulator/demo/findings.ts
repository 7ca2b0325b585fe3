import { type Line, line, seconds } from './line.ts';
import { type ShootSnapshot, isHeld, isUp, leaseAges, shootIn } from './snapshot.ts';
import { formatGoDuration } from '../../src/kubernetes/api/duration.ts';
import type { Recording } from './script.ts';
import {
  cutShoot,
  etcdDependents,
  etcdMain,
  leaseLimitMs,
  podHaste,
  demoTiming,
  quietShoot,
  scaledDown,
  twinName,
  weededShoot,
} from './setting.ts';

/** A behaviour that the demo should show, and the result. */
export interface DemoFinding {
  readonly seen: boolean;
  /** Name of the shoot that should show it. */
  readonly about: string;
  readonly text: string;
}

/** Snapshots of one shoot, the oldest first. */
type History = readonly { readonly at: number; readonly shoot: ShootSnapshot }[];

const historyOf = ({ snapshots }: Recording, name: string, after = 0): History =>
  snapshots.filter(({ at }) => at > after).map((snapshot) => ({ at: snapshot.at, shoot: shootIn(snapshot, name) }));

/** Returns the time of the first snapshot for which `isSo` is true; Infinity if there is none. */
const firstTime = (history: History, isSo: (shoot: ShootSnapshot) => boolean): number =>
  history.find(({ shoot }) => isSo(shoot))?.at ?? Number.POSITIVE_INFINITY;

const areUp = ({ components }: ShootSnapshot, names: readonly string[]): boolean =>
  names.every((name) => components.some((component) => component.name === name && isUp(component)));

const networkFindings = (recording: Recording): readonly DemoFinding[] => {
  const about = cutShoot;
  const [first] = historyOf(recording, about);
  const outage = historyOf(recording, about, recording.injectedAt.get('cut kubelets'));
  const recovery = historyOf(recording, about, recording.injectedAt.get('connect kubelets') ?? Infinity);
  const heldAt = scaledDown.map((name) =>
    firstTime(outage, ({ components }) => components.some((one) => one.name === name && isHeld(one))),
  );
  const allHeldAt = Math.max(...heldAt);
  const isInOrder = heldAt.at(-1) === allHeldAt;
  const renewals = outage[0]?.shoot.nodes.flatMap(({ renewedAt }) => renewedAt ?? []) ?? [];
  const graceEndsAt = Math.min(...renewals) + demoTiming('script').graceMs;
  const isEarly = allHeldAt < graceEndsAt;
  const hasFormerCounts = ({ components }: ShootSnapshot): boolean =>
    first?.shoot.components.every(({ name, replicas }) =>
      components.some((one) => one.name === name && one.replicas === replicas && isUp(one)),
    ) === true;
  const isReplaced = outage.some(({ shoot }) =>
    first?.shoot.machines.some((machine) => !shoot.machines.includes(machine)),
  );
  const someBackAt = recording.injectedAt.get('connect some kubelets') ?? Infinity;
  const landing = outage.filter(({ at }) => at > someBackAt && at <= (recovery[0]?.at ?? 0));
  const hasLanded = landing.some(({ shoot }) => shoot.state === 'landing');
  const isAllHeld = landing.every(({ shoot: { components } }) =>
    components.every((one) => !scaledDown.includes(one.name) || isHeld(one)),
  );
  const margin = isEarly ? `${seconds(graceEndsAt - allHeldAt)} before` : 'before';
  return [
    { seen: isEarly && isInOrder, about, text: `down in order, annotated, ${margin} KCM's grace ended` },
    {
      seen: outage.every(({ shoot }) => shoot.nodes.every(({ ready }) => ready === 'True')),
      about,
      text: 'no node turned Unknown',
    },
    { seen: !isReplaced, about, text: 'no machine was replaced' },
    { seen: hasLanded && isAllHeld, about, text: 'nothing restored before the late kubelets were back' },
    {
      seen: Number.isFinite(allHeldAt) && Number.isFinite(firstTime(recovery, hasFormerCounts)),
      about,
      text: 'restored: the former counts, no annotations',
    },
  ];
};

const isWell = (shoot: ShootSnapshot, at: number): boolean =>
  shoot.components.every(isUp) &&
  shoot.nodes.every(({ ready }) => ready === 'True') &&
  leaseAges(shoot, at).every((age) => age < leaseLimitMs('script'));

/** Returns the names of the pods that were deleted. */
const deletedIn = (history: History): readonly string[] =>
  history.slice(1).flatMap(({ shoot: { pods } }, index) => {
    const kept = new Set(pods.filter(({ deleting }) => !deleting).map(({ uid }) => uid));
    const before = history[index]?.shoot.pods ?? [];
    return before.filter(({ uid, deleting }) => !deleting && !kept.has(uid)).map(({ name }) => name);
  });

/** Time from the recovery of etcd to that of the last Deployment, in milliseconds; undefined if not all have recovered. */
const recoveryMs = (recording: Recording, name: string): number | undefined => {
  const history = historyOf(recording, name, recording.injectedAt.get('mend etcd') ?? Infinity);
  const etcdAt = firstTime(history, (shoot) => areUp(shoot, [etcdMain]));
  const allAt = firstTime(history, (shoot) => areUp(shoot, [etcdMain, ...etcdDependents]));
  return Number.isFinite(allAt) ? allAt - etcdAt : undefined;
};

/** Formats a duration, and how long it would be with real pods. */
const took = (ms: number): string =>
  `in ${seconds(ms)} (really ${formatGoDuration(Math.round((ms * podHaste) / 1_000) * 1_000).replace(/m0s$/, 'm')})`;

const comparison = (weeded: number | undefined, alone: number | undefined): Pick<DemoFinding, 'seen' | 'text'> => {
  if (weeded === undefined || weeded >= (alone ?? Infinity)) {
    return { seen: false, text: `back before ${twinName}, whose pods wait for their next start` };
  }
  const other = alone === undefined ? 'is still waiting' : took(alone);
  return { seen: true, text: `back ${took(weeded)}, ${twinName} ${other}` };
};

const etcdFindings = (recording: Recording): readonly DemoFinding[] => {
  const about = weededShoot;
  const [victim, twin] = [historyOf(recording, about), historyOf(recording, twinName)];
  const hasLooped = (history: History, name: string): boolean =>
    history.some(({ shoot }) => shoot.pods.some((pod) => pod.component === name && pod.backOff !== undefined));
  const areLooped = [victim, twin].every((history) => etcdDependents.every((name) => hasLooped(history, name)));
  const weeded = new Set(victim.flatMap(({ shoot }) => shoot.weeded.map(({ pod }) => pod)));
  const isWeeded = weeded.size > 1 && deletedIn(victim).every((pod) => weeded.has(pod));
  const isFair = weeded.size > 0 && deletedIn(twin).length === 0;
  const isScaled = victim.some(({ shoot }) =>
    shoot.components.some(({ replicas, active }) => replicas === 0 || active),
  );
  return [
    { seen: areLooped, about, text: `without etcd all ${String(etcdDependents.length)} Deployments crash-looped` },
    {
      seen: isWeeded,
      about,
      text: `etcd back: ${isWeeded ? `${String(weeded.size)} ` : ''}waiting pods deleted, each with an Event`,
    },
    {
      about,
      ...comparison(isFair ? recoveryMs(recording, about) : undefined, recoveryMs(recording, twinName)),
    },
    { seen: !isScaled, about, text: 'not scaled by the prober: this was no network outage' },
  ];
};

/** Judges everything that the demo should show. Pure. */
export const findingsOf = (recording: Recording): readonly DemoFinding[] => [
  ...networkFindings(recording),
  {
    seen: historyOf(recording, quietShoot).every(({ at, shoot }) => isWell(shoot, at)),
    about: quietShoot,
    text: 'was never touched',
  },
  ...etcdFindings(recording),
];

export const linesOfFindings = (findings: readonly DemoFinding[]): readonly Line[] =>
  findings.map(({ seen, about, text }) =>
    line(`${seen ? '[seen]' : '[NOT SEEN]'} ${text}`, about, seen ? 'good' : 'bad'),
  );
