import { decodeScalable, workloadState } from '../../src/kubernetes/api/scalable.ts';
import type { FaultKind } from '../../src/page/feed/index.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { ProberStatus } from '../../src/status/state/schema.ts';
import type { ShootState } from '../../src/status/state/states.ts';
import { textColumns, wrapped } from '../../src/telemetry/index.ts';
import { type SimChange, type SimKind, type SimObject, asMap, simKinds } from '../apiserver/index.ts';
import {
  type World,
  type WorldShoot,
  controlObjectOf,
  etcdAnnotation,
  kubeApiserver,
  kubeletsAnnotation,
  readyOf,
} from '../world/index.ts';
import { demoFaults } from './page.ts';
import { demoShoots, twinName } from './setting.ts';

/** Meaning of a text's colour: `good` and `bad` for results, `strong` for emphasis. */
export type Tone = 'plain' | 'good' | 'bad' | 'strong';

/** A sentence about one shoot. */
export interface Line {
  readonly tone: Tone;
  readonly about: string;
  readonly text: string;
}

const line = (text: string, about: string, tone: Tone = 'plain'): Line => ({ text, about, tone });

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)}s`;

/** Formats a line in at most 80 columns, and prefixes its time. `at`: milliseconds since the start. */
export const render = ({ about, text }: Line, at: number): readonly string[] => {
  const prefix = `${seconds(at).padStart(6)}  ${about.padEnd(7)}  `;
  // Continuation lines have the indentation of the first line.
  const indent = /^ */.exec(text)?.[0] ?? '';
  return wrapped(text.trimStart(), textColumns - prefix.length - indent.length).map(
    (part) => `${prefix}${indent}${part}`,
  );
};

/** Says what a change of an object shows, as texts and tones; nothing for most changes. */
type Teller = (change: SimChange) => readonly (readonly [text: string, tone?: Tone])[];

const faultTexts = [
  [kubeletsAnnotation, 'its kubelets are cut off', 'its kubelets are connected'],
  [etcdAnnotation, 'its etcd is killed', 'its etcd is mended'],
] as const;

const tellFaults: Teller = ({ object, previous }) =>
  faultTexts.flatMap(([key, begins, ends]) => {
    const [was, is] = [previous, object].map((one) => one?.metadata.annotations?.[key] !== undefined);
    return was === is ? [] : [[is === true ? begins : ends, 'strong'] as const];
  });

const stateIn = (object: SimObject) => {
  const { specReplicas, readyReplicas } = workloadState(decodeScalable(object, object.kind));
  return { specReplicas, readyReplicas, isUp: specReplicas > 0 && readyReplicas >= specReplicas };
};

const tellWorkload: Teller = ({ object, previous }) => {
  if (previous === undefined) return [];
  const [before, after] = [stateIn(previous), stateIn(object)];
  const name = object.metadata.name.padEnd(26);
  const isDown = object.metadata.name === kubeApiserver && before.readyReplicas > 0 && after.readyReplicas === 0;
  return [
    ...(isDown ? ([[`${kubeApiserver} is down`, 'bad']] as const) : []),
    ...(before.specReplicas === after.specReplicas
      ? []
      : [[`${name}  ${String(before.specReplicas)} -> ${String(after.specReplicas)}`] as const]),
    ...(after.isUp && !before.isUp ? ([[`${name}  ready again`, 'good']] as const) : []),
  ];
};

const tellWeeded: Teller = ({ type, object: { reason, involvedObject } }) =>
  type === 'ADDED' && reason === 'DependencyReady'
    ? [[`the weeder deleted ${String(asMap(involvedObject).name)}`, 'good']]
    : [];

const tellMachine: Teller = ({ type, object }) =>
  type === 'DELETED' ? [[`MCM deleted healthy machine ${object.metadata.name}`, 'bad']] : [];

const tellNode =
  ({ store }: WorldShoot): Teller =>
  ({ type, object, previous }) => {
    if (type !== 'MODIFIED' || previous === undefined) return [];
    const [was, is] = [previous, object].map((node) => readyOf(node)?.status === 'True');
    if (was === is) return [];
    const nodes = store.list(simKinds.Node);
    const ready = nodes.filter((node) => readyOf(node)?.status === 'True').length;
    const state = `${String(ready)} of ${String(nodes.length)} Ready`;
    return [is === true ? [`nodes: ${state}`] : [`KCM has given up a node (Unknown): ${state}`, 'bad']];
  };

/** Prints what happens in the seed to some shoots, as the objects show it. Returns the function that stops it. */
const tellHappenings = (
  { store, source }: World,
  shoots: readonly WorldShoot[],
  print: (line: Line) => void,
): (() => void) => {
  const stops = shoots.flatMap((shoot) => {
    const { name, namespace } = shoot;
    const telling =
      (teller: Teller) =>
      (change: SimChange): void => {
        for (const [text, tone] of teller(change)) print(line(text, name, tone));
      };
    const { kind: steering } = controlObjectOf(source, namespace);
    const ofSeed: readonly (readonly [SimKind, Teller])[] = [
      [simKinds.StatefulSet, tellWorkload],
      [simKinds.Deployment, tellWorkload],
      [simKinds.Event, tellWeeded],
      [simKinds.Machine, tellMachine],
    ];
    return [
      store.subscribe(steering, (change) => {
        if (change.object.metadata.name === namespace) telling(tellFaults)(change);
      }),
      ...ofSeed.map(([kind, teller]) => store.subscribe(kind, telling(teller), namespace)),
      shoot.store.subscribe(simKinds.Node, telling(tellNode(shoot))),
    ];
  });
  return () => {
    for (const stop of stops) stop();
  };
};

export interface LiveOptions {
  readonly world: World;
  /** Returns the prober's `GET /status`; undefined while it does not respond. Never rejects. Absent if no prober runs. */
  readonly readStatus?: (signal: AbortSignal) => Promise<ProberStatus | undefined>;
  readonly print: (line: Line) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** True if a script injects faults, and ends the demo. */
  readonly isScripted: boolean;
}

/**
 * Faults with their times from the start of the script, in milliseconds: the network of one shoot fails for longer than KCM's grace period, and
 * beside it the etcd of another. The unprotected twin has both faults, for comparison.
 */
const script: readonly (readonly [atMs: number, fault: FaultKind, shoot: string])[] = [
  [1_500, 'cut kubelets', 'alpha'],
  [3_500, 'break etcd', 'bravo'],
  [23_500, 'mend etcd', 'bravo'],
  [47_500, 'connect kubelets', 'alpha'],
];
const scriptMs = 67_500;
/** How long the script waits for the prober, in milliseconds. */
const longestWaitMs = 60_000;
const lookEveryMs = 250;

const stateTones: Readonly<Partial<Record<ShootState, Tone>>> = {
  'losing nodes': 'bad',
  blind: 'bad',
  'not protected': 'bad',
  confirming: 'bad',
  flapping: 'bad',
  healthy: 'good',
  held: 'strong',
  landing: 'strong',
};

/** Prints what the prober tells of the shoots when a state changes. */
class Told {
  readonly #world: World;
  readonly #print: LiveOptions['print'];
  readonly #states = new Map<string, ShootState>(demoShoots.map(({ name }) => [name, 'not probed']));
  /** True if the prober has probed every shoot. */
  isComplete = false;

  constructor({ world, print }: LiveOptions) {
    this.#world = world;
    this.#print = print;
  }

  hear({ shoots }: ProberStatus): void {
    const seen = [...this.#states].map(([name, before]) => {
      const { namespace } = this.#world.shoot(name);
      const { state = 'not probed', why = '', lookedAt } = shoots.find((one) => one.namespace === namespace) ?? {};
      this.#states.set(name, state);
      const isWellFromTheStart = before === 'not probed' && state === 'healthy';
      // The first part is about the leases; what is held has lines of its own.
      const [what = ''] = why.split('; ');
      if (before !== state && !isWellFromTheStart) {
        this.#print(line(what === '' ? state : `${state}: ${what}`, name, stateTones[state]));
      }
      return lookedAt !== undefined;
    });
    this.isComplete = seen.every(Boolean);
  }
}

/** Prints what happens in the simulated seed. Resolves at the end of the script, if there is one; rejects with `signal.reason`. */
export const runLive = async (options: LiveOptions): Promise<void> => {
  const { world, readStatus, print, clock, signal, isScripted } = options;
  const told = new Told(options);
  const latest = clock.monotonic() + longestWaitMs;
  let played = 0;
  let scriptFrom = Number.POSITIVE_INFINITY;
  const shoots = demoShoots.map(({ name }) => world.shoot(name));
  const stopTelling = tellHappenings(world, shoots, print);
  try {
    while (clock.monotonic() < scriptFrom + scriptMs) {
      const status = await readStatus?.(signal);
      if (status !== undefined) told.hear(status);
      const now = clock.monotonic();
      const isWatched = readStatus === undefined || told.isComplete || now >= latest;
      if (isScripted && isWatched) scriptFrom = Math.min(scriptFrom, now);
      const due = script.slice(played).filter(([atMs]) => atMs <= now - scriptFrom);
      for (const [, fault, name] of due) {
        for (const shoot of [name, twinName]) demoFaults[fault](world.shoot(shoot));
      }
      played += due.length;
      await clock.sleep(lookEveryMs, signal);
    }
  } finally {
    stopTelling();
  }
};
