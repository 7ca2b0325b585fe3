import type { ExternalProbeMode } from '../../src/prober/index.ts';
import { createSeededRandom } from '../time/index.ts';
import { createDraw, shootNames } from './draw.ts';
import { proberPlan } from './generate-prober.ts';
import { weederPlan } from './generate-weeder.ts';
import type { Plan } from './plan.ts';

/** Two of five plans are about the weeder. */
const isWeeders = (seed: number): boolean => seed % 5 === 2 || seed % 5 === 4;

const outsideModes: readonly (ExternalProbeMode | undefined)[] = [
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  'observe',
  'confirm',
  'confirm',
  'trigger',
  'trigger',
];

/** The plan of a number: always the same one. */
export const generatePlan = (seed: number): Plan => {
  const random = createSeededRandom(`plan/${String(seed)}`);
  const replicas = random.next() < 0.3 ? 2 : 1;
  if (isWeeders(seed)) {
    const names = shootNames.slice(0, 1 + random.integer(3));
    const draw = createDraw(random, { shoots: names.length, replicas, hasOutside: false });
    return { seed, replicas, ...weederPlan(draw, names) };
  }
  const outside = outsideModes[random.integer(outsideModes.length)];
  // With four shoots a majority of paths may be broken while another is whole.
  const names = shootNames.slice(0, outside !== undefined && random.next() < 0.4 ? 4 : 3);
  const draw = createDraw(random, { shoots: names.length, replicas, hasOutside: outside !== undefined });
  return { seed, replicas, ...(outside === undefined ? {} : { outside }), ...proberPlan(draw, names) };
};
