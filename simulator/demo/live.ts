import type { Clock } from '../../src/ports/clock.ts';
import type { FaultKind } from '../../src/page/feed/index.ts';
import type { ProberStatus } from '../../src/status/state/schema.ts';
import type { ShootState } from '../../src/status/state/states.ts';
import type { World } from '../world/index.ts';
import { demoFaults } from './faults.ts';
import { tellHappenings } from './happenings.ts';
import { type Line, type Tone, line } from './line.ts';
import { demoShoots, twinName } from './setting.ts';

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
