import type { ExternalProbeMode } from '../../src/prober/index.ts';
import { type SeededRandom, createSeededRandom } from '../time/index.ts';
import { Draw, type Story, shootNames } from './draw.ts';
import { proberFault, proberScripts, proberShoot } from './generate-prober.ts';
import { weederFault, weederScripts, weederShoot } from './generate-weeder.ts';
import type { Fault, Plan } from './plan.ts';

/** Time after a weeder's last fault, in addition to the duration of a weeding, until no weeding is left. */
const afterWeedingsMs = 70_000;

const outsideModes: readonly (ExternalProbeMode | undefined)[] = [
  ...[undefined, undefined, undefined, undefined, undefined],
  ...(['observe', 'observe', 'observe', 'trigger', 'trigger'] as const),
];

/**
 * Adds a pause of one shoot or of all to one plan in six, often across the beginning of an outage. It has its own random stream, so that it
 * does not change the rest of a plan.
 */
const withPause = (plan: Plan, random: SeededRandom): Plan => {
  if (random.next() >= 1 / 6) return plan;
  const shoot = random.next() < 0.5 ? undefined : plan.shoots[random.integer(plan.shoots.length)]?.name;
  const outage = plan.faults.find(({ fault }) => fault.kind === 'load-balancer')?.at ?? 30_000;
  const at = Math.max(0, Math.min(outage - 20_000 + random.integer(60_000), plan.faultsMs - 30_000));
  const forMs = Math.min(15_000 + random.integer(70_000), plan.faultsMs - at);
  if (forMs < 1_000) return plan;
  const fault: Fault = { kind: 'protection-pause', shoot, ms: forMs, expires: random.next() < 0.5 };
  return { ...plan, faults: [...plan.faults, { at, forMs, fault }] };
};

const components = {
  prober: { anyFault: proberFault, shootOf: proberShoot, scriptsOf: proberScripts },
  weeder: { anyFault: weederFault, shootOf: weederShoot, scriptsOf: () => weederScripts },
} as const;

/** Draws a story, the shoots, and how the watchdogs run. */
const drawPlan = (
  draw: Draw,
  component: Plan['component'],
  names: readonly string[],
): Omit<Plan, 'seed' | 'replicas'> & Pick<Story, 'replicas'> => {
  const { shootOf, scriptsOf } = components[component];
  const { faultsMs, quietMs = 60_000, faults, elected, ...story } = draw.of(scriptsOf(draw.plan))(draw);
  const isWeeder = component === 'weeder';
  const watchDurationMs = isWeeder ? draw.of([20_000, 60_000, 300_000]) : undefined;
  return {
    component,
    watchDurationMs,
    shoots: names.map((name) => shootOf(draw, name)),
    elected: draw.plan.replicas > 1 || elected === true || draw.chance(0.2),
    dryRun: draw.chance(0.03),
    latencyMs: draw.of([0, 20, 300]),
    ...story,
    faultsMs,
    quietMs: watchDurationMs === undefined ? quietMs : watchDurationMs + afterWeedingsMs,
    // In the order of time, and over at `faultsMs` at the latest.
    faults: faults
      .map((planned) => ({ ...planned, forMs: Math.min(planned.forMs, faultsMs - planned.at) }))
      .sort((a, b) => a.at - b.at),
  };
};

/** Returns the plan of a number, always the same one. Three of five test the prober, the others the weeder. */
export const generatePlan = (seed: number): Plan => {
  const random = createSeededRandom(`plan/${String(seed)}`);
  const replicas = random.next() < 0.3 ? 2 : 1;
  const drawWith = (
    component: Plan['component'],
    names: readonly string[],
    rest: Pick<Plan, 'source' | 'outside'>,
  ): Plan => {
    const drawn = { shoots: names.length, replicas, hasOutside: rest.outside !== undefined, source: rest.source };
    const draw = new Draw(random, { ...drawn, anyFault: components[component].anyFault });
    return { seed, replicas, ...rest, ...drawPlan(draw, component, names) };
  };
  if (seed % 5 === 2 || seed % 5 === 4) return drawWith('weeder', shootNames.slice(0, 1 + random.integer(3)), {});
  // Each source gets half of a prober's plans. Its random stream does not change the rest of a plan.
  const source = random.fork('source').next() < 1 / 2 ? 'secret' : undefined;
  const outside = outsideModes[random.integer(outsideModes.length)];
  // With four shoots, most public addresses may be unreachable while another is reachable.
  const names = shootNames.slice(0, outside !== undefined && random.next() < 0.4 ? 4 : 3);
  const plan = drawWith('prober', names, { source, outside });
  return withPause(plan, createSeededRandom(`pause/${String(seed)}`));
};
