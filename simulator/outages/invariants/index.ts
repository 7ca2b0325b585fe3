import type { Plan } from '../plan.ts';
import { counts, restoration, untouched } from './counts.ts';
import type { Invariant } from './invariant.ts';
import { noNeedlessScaleDown, noNodeLost } from './nodes.ts';
import { weeded, weedsOnly } from './pods.ts';
import { atRest, leaks, noStorm, survival } from './processes.ts';
import { dryRunWritesNothing, noWriteAfterLoss, oneLeader } from './writers.ts';

export { unrestored } from './counts.ts';
export type { Checker, Invariant } from './invariant.ts';

const ofBoth: readonly Invariant[] = [
  ...[oneLeader, noWriteAfterLoss, dryRunWritesNothing],
  ...[noStorm, survival, atRest, leaks],
];
const ofProbers: readonly Invariant[] = [noNodeLost, noNeedlessScaleDown, counts, restoration, untouched];
const ofWeeders: readonly Invariant[] = [weedsOnly, weeded];

export const invariantsOf = ({ component }: Pick<Plan, 'component'>): readonly Invariant[] => [
  ...(component === 'prober' ? ofProbers : ofWeeders),
  ...ofBoth,
];
