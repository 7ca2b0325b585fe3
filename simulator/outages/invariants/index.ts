import { counts, restoration, untouched } from './counts.ts';
import type { Invariant } from './invariant.ts';
import { noNeedlessScaleDown, noNodeLost } from './nodes.ts';
import { atRest, leaks, noStorm, survival } from './processes.ts';
import { dryRunWritesNothing, noWriteAfterLoss, oneLeader } from './writers.ts';

export { unrestored } from './counts.ts';
export type { Checker, Invariant } from './invariant.ts';

export const invariants: readonly Invariant[] = [
  ...[noNodeLost, noNeedlessScaleDown, counts, restoration, untouched],
  ...[oneLeader, noWriteAfterLoss, dryRunWritesNothing],
  ...[noStorm, survival, atRest, leaks],
];
