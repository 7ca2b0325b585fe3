import type { ExternalProbeMode } from '../../src/prober/index.ts';
import { type SeededRandom, createSeededRandom } from '../time/index.ts';
import { createDraw, shootNames } from './draw.ts';
import { proberPlan } from './generate-prober.ts';
import { weederPlan } from './generate-weeder.ts';
import type { Fault, Plan } from './plan.ts';

/** True for two of five plans, which test the weeder. */
const isWeeders = (seed: number): boolean => seed % 5 === 2 || seed % 5 === 4;

/** Draws the cluster source: each gets half of a prober's plans. It has its own random stream, so that it does not change the rest of a plan. */
const sourceOf = (random: SeededRandom): Pick<Plan, 'source'> =>
  random.fork('source').next() < 1 / 2 ? { source: 'secret' } : {};

const outsideModes: readonly (ExternalProbeMode | undefined)[] = [
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  'observe',
  'observe',
  'observe',
  'trigger',
  'trigger',
];

/**
 * Adds a pause of one shoot or of all to one plan in six, often across the beginning of an outage. It has its own random stream, so that it
 * does not change the rest of a plan.
 */
const withPause = (plan: Plan, random: SeededRandom): Plan => {
  if (random.next() >= 1 / 6) return plan;
  const shoot = random.next() < 0.5 ? undefined : (plan.shoots[random.integer(plan.shoots.length)]?.name ?? undefined);
  const outage = plan.faults.find(({ fault }) => fault.kind === 'load-balancer')?.at ?? 30_000;
  const at = Math.max(0, Math.min(outage - 20_000 + random.integer(60_000), plan.faultsMs - 30_000));
  const forMs = Math.min(15_000 + random.integer(70_000), plan.faultsMs - at);
  if (forMs < 1_000) return plan;
  const fault: Fault = { kind: 'protection-pause', shoot, ms: forMs, expires: random.next() < 0.5 };
  return { ...plan, faults: [...plan.faults, { at, forMs, fault }] };
};

/** Returns the plan of a number, always the same one. */
export const generatePlan = (seed: number): Plan => {
  const random = createSeededRandom(`plan/${String(seed)}`);
  const replicas = random.next() < 0.3 ? 2 : 1;
  if (isWeeders(seed)) {
    const names = shootNames.slice(0, 1 + random.integer(3));
    const draw = createDraw(random, { shoots: names.length, replicas, hasOutside: false });
    return { seed, replicas, ...weederPlan(draw, names) };
  }
  const source = sourceOf(random);
  const outside = outsideModes[random.integer(outsideModes.length)];
  // With four shoots, most public addresses may be unreachable while another is reachable.
  const names = shootNames.slice(0, outside !== undefined && random.next() < 0.4 ? 4 : 3);
  const draw = createDraw(random, { shoots: names.length, replicas, hasOutside: outside !== undefined, ...source });
  const plan = { seed, replicas, ...source, ...(outside === undefined ? {} : { outside }), ...proberPlan(draw, names) };
  return withPause(plan, createSeededRandom(`pause/${String(seed)}`));
};
