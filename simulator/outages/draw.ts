import type { SeededRandom } from '../time/index.ts';
import type { ApiFault, Plan } from './plan.ts';

export const shootNames = ['a', 'b', 'c', 'd'];
export const nodesOf = 5;

export interface DrawnFrom extends Pick<Plan, 'source'> {
  readonly shoots: number;
  readonly replicas: number;
  readonly hasOutside: boolean;
}

/** Creates functions that draw the values of a plan from one stream of random numbers. */
export const createDraw = (random: SeededRandom, plan: DrawnFrom) => {
  const of = <const T>(items: readonly [T, ...T[]]): T => items[random.integer(items.length)] ?? items[0];
  const shoot = (): string => shootNames[random.integer(plan.shoots)] ?? '';
  const chance = (part: number): boolean => random.next() < part;
  return {
    random,
    replicas: plan.replicas,
    /** True if the plan has an external probe. */
    hasOutside: plan.hasOutside,
    source: plan.source,
    of,
    shoot,
    chance,
    between: (low: number, high: number): number => Math.round(low + random.next() * (high - low)),
    server: (): string => (chance(0.5) ? 'seed' : shoot()),
    replica: (): number => random.integer(plan.replicas),
    /** Draws numbers of nodes, at least one. */
    nodes: (): readonly number[] => {
      const least = random.integer(nodesOf);
      return Array.from({ length: nodesOf }, (_, node) => node).filter((node) => node === least || chance(0.4));
    },
  };
};

export type Draw = ReturnType<typeof createDraw>;

export const apiFault = (draw: Draw): ApiFault => {
  switch (draw.random.integer(6)) {
    case 0:
      return { how: 'refused' };
    case 5:
      return { how: 'silent' };
    case 1:
      return { how: 'slow', delayMs: draw.between(100, 8_000) };
    case 2:
      return { how: 'status', status: draw.of([401, 403, 500, 503]) };
    case 3:
      return { how: 'status', status: 429, ...(draw.chance(0.5) ? { retryAfter: draw.between(1, 20) } : {}) };
    default:
      return { how: 'flaky', part: draw.of([0.1, 0.3, 0.6]) };
  }
};

/** Draws a duration in milliseconds: a moment, or long enough for an outage to be noticed. */
export const lasting = (draw: Draw): number =>
  draw.chance(0.3) ? draw.between(500, 8_000) : draw.between(8_000, 90_000);

export interface Story extends Pick<Plan, 'faultsMs' | 'quietMs' | 'faults'> {
  /** Leader election and latency, if the story requires them. */
  readonly elected?: true;
  readonly latencyMs?: number;
}

/** Sorts the faults by time, and ends each at `faultsMs` at the latest. */
export const clipped = <S extends Story>(story: S): S => ({
  ...story,
  faults: story.faults
    .map((planned) => ({ ...planned, forMs: Math.min(planned.forMs, story.faultsMs - planned.at) }))
    .sort((a, b) => a.at - b.at),
});

type Weighted<T> = readonly (readonly [weight: number, make: (draw: Draw) => T])[];

export const pick = <T>(draw: Draw, choices: Weighted<T>): T => {
  let rest = draw.random.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
  const found = choices.find(([weight]) => {
    rest -= weight;
    return rest < 0;
  });
  const [, make] = found ?? choices[0] ?? [];
  if (make === undefined) throw new Error('nothing to pick from');
  return make(draw);
};
