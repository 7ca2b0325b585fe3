import type { SeededRandom } from '../time/index.ts';
import type { ApiFault, Fault, Plan, PlannedFault } from './plan.ts';

export const shootNames = ['a', 'b', 'c', 'd'];
export const nodesOf = 5;
export const allNodes = Array.from({ length: nodesOf }, (_, node) => node);

export type Weighted = readonly (readonly [weight: number, make: (draw: Draw) => Fault])[];

export interface DrawnFrom extends Pick<Plan, 'source'> {
  readonly shoots: number;
  readonly replicas: number;
  /** True if the plan has an external probe. */
  readonly hasOutside: boolean;
  /** Draws one of the component's faults. */
  readonly anyFault: (draw: Draw) => Fault;
}

/** Functions that draw the values of a plan from one stream of random numbers. */
export class Draw {
  readonly random: SeededRandom;
  readonly plan: DrawnFrom;

  constructor(random: SeededRandom, plan: DrawnFrom) {
    this.random = random;
    this.plan = plan;
  }

  of<const T>(items: readonly [T, ...T[]]): T {
    return items[this.random.integer(items.length)] ?? items[0];
  }

  chance(part: number): boolean {
    return this.random.next() < part;
  }

  between(low: number, high: number): number {
    return Math.round(low + this.random.next() * (high - low));
  }

  shoot(): string {
    return shootNames[this.random.integer(this.plan.shoots)] ?? '';
  }

  /** One shoot, or undefined for all. `part`: share of the first. */
  shootOrAll(part: number): string | undefined {
    return this.chance(part) ? this.shoot() : undefined;
  }

  server(): string {
    return this.chance(0.5) ? 'seed' : this.shoot();
  }

  replica(): number {
    return this.random.integer(this.plan.replicas);
  }

  /** Numbers of nodes, at least one. */
  nodes(): readonly number[] {
    const least = this.random.integer(nodesOf);
    return allNodes.filter((node) => node === least || this.chance(0.4));
  }

  fromTable(table: Weighted): Fault {
    let rest = this.random.next() * table.reduce((sum, [weight]) => sum + weight, 0);
    const found = table.find(([weight]) => {
      rest -= weight;
      return rest < 0;
    });
    const [, make] = found ?? table[0] ?? [];
    if (make === undefined) throw new Error('nothing to pick from');
    return make(this);
  }

  /** A duration in milliseconds: a moment, or long enough for an outage to be noticed. */
  lasting(): number {
    return this.chance(0.3) ? this.between(500, 8_000) : this.between(8_000, 90_000);
  }

  /** Any fault, which begins at an instant from `from` to `to`. */
  anyAt(from: number, to: number): PlannedFault {
    return { at: this.between(from, to), forMs: this.lasting(), fault: this.plan.anyFault(this) };
  }

  /** From `least` to `most` faults. */
  some(least: number, most: number, make: () => PlannedFault): readonly PlannedFault[] {
    return Array.from({ length: this.between(least, most) }, make);
  }

  /** The end, suspension or isolation of a process. */
  blow(replica: number): Fault {
    const kind = this.of(['pause', 'pause', 'pause', 'kill', 'stop', 'partition']);
    return kind === 'partition' ? { kind, replica, server: 'seed' } : { kind, replica };
  }
}

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

/** What happens in a plan. */
export interface Story extends Pick<Plan, 'faultsMs' | 'faults'> {
  readonly quietMs?: number;
  /** Leader election and latency, if the story requires them. */
  readonly elected?: true;
  readonly latencyMs?: number;
  /** Number of watchdogs, if the story requires two. */
  readonly replicas?: 2;
}

export type Script = (draw: Draw) => Story;

/** Any faults at any time. */
export const chaos: Script = (draw) => ({
  faultsMs: 150_000,
  quietMs: 90_000,
  faults: draw.some(1, 7, () => draw.anyAt(0, 145_000)),
});
