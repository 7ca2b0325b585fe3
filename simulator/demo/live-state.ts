import {
  type Line,
  type ScreenEvent,
  type ScreenInput,
  type ShootSnapshot,
  line,
  linesOfChanges,
  plural,
} from '../../src/cli/status-screen/index.ts';
import { type About, aboutLines } from './about.ts';
import type { DemoObservation } from './source.ts';

/** Losses of a shoot since the demo began. */
interface Losses {
  /** How often a node turned Unknown. */
  readonly nodes: number;
  /** Nodes that were Unknown in the last response of the shoot's API server. */
  readonly unknown: readonly string[];
  readonly machines: number;
}

/** Everything that the demo in a terminal shows. */
export interface LiveState {
  /** Names of the shoots, in the order of their digit keys. */
  readonly shoots: readonly string[];
  /** Name of the shoot that no watchdog protects. */
  readonly twin: string;
  readonly selected: string;
  /** True if faults of the selected shoot are injected into the twin as well. */
  readonly twinFollows: boolean;
  readonly page: 'shoots' | 'help';
  readonly observation?: DemoObservation;
  readonly losses: ReadonlyMap<string, Losses>;
  /** The oldest first. */
  readonly events: readonly ScreenEvent[];
}

/** Number of events to keep: more than any screen has rows. */
const mostEvents = 200;

const noLosses: Losses = { nodes: 0, unknown: [], machines: 0 };

export const beginLive = (shoots: readonly string[], twin: string): LiveState => ({
  shoots,
  twin,
  selected: shoots[0] ?? twin,
  twinFollows: true,
  page: 'shoots',
  losses: new Map(),
  events: [],
});

export const addEvents = (state: LiveState, at: number, lines: readonly Line[]): LiveState => ({
  ...state,
  events: [...state.events, ...lines.map((added) => ({ at, line: added }))].slice(-mostEvents),
});

const addLosses = (losses: Losses, before: ShootSnapshot, after: ShootSnapshot): Losses => {
  const seen = after.nodes.filter(({ ready }) => ready === 'Unknown').map(({ name }) => name);
  const unknown = after.answers ? seen : losses.unknown;
  return {
    nodes: losses.nodes + unknown.filter((node) => !losses.unknown.includes(node)).length,
    unknown,
    machines: losses.machines + before.machines.filter((machine) => !after.machines.includes(machine)).length,
  };
};

const faultLines = (before: DemoObservation, after: DemoObservation): readonly Line[] =>
  [...after.faults].flatMap(([name, { isCut, isEtcdDown }]) => {
    const known = before.faults.get(name);
    const cut = isCut ? 'its kubelets are cut off' : 'its kubelets are connected';
    const etcd = isEtcdDown ? 'its etcd is killed' : 'its etcd is mended';
    return [
      ...(isCut === known?.isCut ? [] : [line(cut, name, 'strong')]),
      ...(isEtcdDown === known?.isEtcdDown ? [] : [line(etcd, name, 'strong')]),
    ];
  });

/** Adds an observation, with events for its changes. `at`: milliseconds since the demo began. */
export const takeObservation = (state: LiveState, at: number, observation: DemoObservation): LiveState => {
  const before = state.observation;
  if (before === undefined) return { ...state, observation };
  const losses = new Map(state.losses);
  for (const shoot of observation.status.shoots) {
    const known = before.status.shoots.find(({ name }) => name === shoot.name) ?? shoot;
    losses.set(shoot.name, addLosses(losses.get(shoot.name) ?? noLosses, known, shoot));
  }
  const lines = [...faultLines(before, observation), ...linesOfChanges(before.status, observation.status)];
  return addEvents({ ...state, observation, losses }, at, lines);
};

const noteOn = ({ observation, losses }: LiveState, name: string): string => {
  const { isCut = false, isEtcdDown = false } = observation?.faults.get(name) ?? {};
  const { nodes, machines } = losses.get(name) ?? noLosses;
  const lost = [
    ...(nodes > 0 ? [plural(nodes, 'node')] : []),
    ...(machines > 0 ? [plural(machines, 'machine')] : []),
  ].join(', ');
  return [
    ...(isCut ? ['cut off'] : []),
    ...(isEtcdDown ? ['no etcd'] : []),
    ...(lost === '' ? [] : [`lost ${lost}`]),
  ].join(', ');
};

/** Returns the input of the status screen, `openMs` milliseconds after the demo began. */
export const screenOf = (state: LiveState, about: About, openMs: number): ScreenInput => {
  const { shoots, twin, selected, twinFollows, page, observation, events } = state;
  const follows = twinFollows ? 'twin follows' : 'twin apart';
  return {
    title: 'dwd demo',
    connection: `KUBECONFIG=${about.seedKubeconfig}`,
    openMs,
    selected,
    // The twin itself is compared with the first shoot.
    compared: selected === twin ? (shoots[0] ?? twin) : twin,
    notes: new Map(shoots.map((name) => [name, noteOn(state, name)])),
    events,
    keys: `1-${String(shoots.length)} pick  c cut  r restore  e kill etcd  m mend  t ${follows}  ? help  q quit`,
    ...(observation === undefined ? {} : { snapshot: observation.status }),
    ...(page === 'help' ? { page: aboutLines(about) } : {}),
  };
};
