import { tellChanges } from '../changes.ts';
import { type Line, line } from '../line.ts';
import type { ShootSnapshot, Snapshot } from '../snapshot.ts';
import type { Verdict } from './verdicts.ts';

/** What a shoot has lost since the demo began. */
export interface Impact {
  /** Times that a node turned Unknown. */
  readonly nodesGivenUp: number;
  /** Nodes that were Unknown when its API server answered last. */
  readonly unknown: readonly string[];
  readonly machinesReplaced: number;
}

/** A line of what has happened. */
export interface Happening {
  /** Milliseconds since the demo began. */
  readonly at: number;
  readonly line: Line;
}

/** Everything that the screen shows. */
export interface LiveState {
  /** Names, in the order of their keys. */
  readonly shoots: readonly string[];
  /** Of these the one that nobody protects. */
  readonly twin: string;
  readonly picked: string;
  /** Whatever is done to another shoot is done to the twin as well. */
  readonly twinFollows: boolean;
  readonly page: 'shoots' | 'help';
  readonly snapshot?: Snapshot;
  readonly impacts: ReadonlyMap<string, Impact>;
  /** By the name of the shoot. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** The oldest first. */
  readonly happenings: readonly Happening[];
}

/** More than any screen has rows. */
const mostHappenings = 200;

export const noImpact: Impact = { nodesGivenUp: 0, unknown: [], machinesReplaced: 0 };

export const beginLive = (shoots: readonly string[], twin: string): LiveState => ({
  shoots,
  twin,
  picked: shoots[0] ?? twin,
  twinFollows: true,
  page: 'shoots',
  impacts: new Map(),
  verdicts: new Map(),
  happenings: [],
});

export const addHappenings = (state: LiveState, at: number, lines: readonly Line[]): LiveState => ({
  ...state,
  happenings: [...state.happenings, ...lines.map((told) => ({ at, line: told }))].slice(-mostHappenings),
});

const faultLines = (before: ShootSnapshot, { name, isCut, isEtcdDown }: ShootSnapshot): readonly Line[] => [
  ...(isCut === before.isCut
    ? []
    : [line(isCut ? 'its kubelets are cut off' : 'its kubelets are let through', name, 'act')]),
  ...(isEtcdDown === before.isEtcdDown
    ? []
    : [line(isEtcdDown ? 'its etcd is killed' : 'its etcd is mended', name, 'act')]),
];

const weededLines = (before: ShootSnapshot, { name, weeded }: ShootSnapshot): readonly Line[] =>
  weeded.filter((pod) => !before.weeded.includes(pod)).map((pod) => line(`the weeder deleted ${pod}`, name, 'good'));

const apiServerLines = (before: ShootSnapshot, { name, answers }: ShootSnapshot): readonly Line[] =>
  before.answers && !answers ? [line('its kube-apiserver is down', name, 'bad')] : [];

const tellMore = (before: ShootSnapshot, after: ShootSnapshot): readonly Line[] => [
  ...faultLines(before, after),
  ...apiServerLines(before, after),
  ...weededLines(before, after),
  ...tellChanges(
    before,
    after,
    after.deployments.map(({ name }) => name),
  ),
];

const addImpact = (impact: Impact, before: ShootSnapshot, after: ShootSnapshot): Impact => {
  const seen = after.nodes.filter(({ ready }) => ready === 'Unknown').map(({ name }) => name);
  const unknown = after.answers ? seen : impact.unknown;
  return {
    nodesGivenUp: impact.nodesGivenUp + unknown.filter((node) => !impact.unknown.includes(node)).length,
    unknown,
    machinesReplaced:
      impact.machinesReplaced + before.machines.filter((machine) => !after.machines.includes(machine)).length,
  };
};

/** Takes in one look at the world. */
export const takeSnapshot = (state: LiveState, snapshot: Snapshot): LiveState => {
  const lines: Line[] = [];
  const impacts = new Map(state.impacts);
  for (const after of snapshot.shoots) {
    const before = state.snapshot?.shoots.find(({ name }) => name === after.name);
    if (before === undefined) continue;
    lines.push(...tellMore(before, after));
    impacts.set(after.name, addImpact(impacts.get(after.name) ?? noImpact, before, after));
  }
  return addHappenings({ ...state, snapshot, impacts }, snapshot.at, lines);
};

const verdictLine = (shoot: string, { word, reason }: Verdict): Line => {
  // Behind the first colon it says what that means, which the Deployments show.
  const [what = ''] = reason.split(': ');
  const text = `prober: ${word}, ${what}`;
  if (word === 'healthy') return line(text, shoot, 'good');
  return word === 'unhealthy' ? line(text, shoot, 'bad') : line(text, shoot);
};

/** Takes in what the prober has said of a shoot; what it says again is not told again, nor that a shoot is well from the beginning. */
export const takeVerdict = (state: LiveState, at: number, said: { shoot: string; verdict: Verdict }): LiveState => {
  const { shoot, verdict } = said;
  const before = state.verdicts.get(shoot)?.word ?? 'healthy';
  const verdicts = new Map(state.verdicts).set(shoot, verdict);
  return addHappenings({ ...state, verdicts }, at, before === verdict.word ? [] : [verdictLine(shoot, verdict)]);
};
