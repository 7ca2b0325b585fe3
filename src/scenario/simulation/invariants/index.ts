import { counts } from './counts.ts';
import { evidence } from './evidence.ts';
import type { Invariant } from './invariant.ts';
import { dryRunWritesNothing, noWriteAfterLoss, oneLeader } from './leadership.ts';
import { leaks } from './leaks.ts';
import { levels } from './levels.ts';
import { keepsLooking, noStorm } from './liveness.ts';
import { noNodeLost, protection } from './protection.ts';
import { restoration } from './restoration.ts';
import { survival } from './survival.ts';

export type { Checker, Invariant, Known } from './invariant.ts';
export { unrestored } from './restoration.ts';

export const invariants: readonly Invariant[] = [
  evidence,
  counts,
  levels,
  oneLeader,
  noWriteAfterLoss,
  dryRunWritesNothing,
  noNodeLost,
  protection,
  keepsLooking,
  noStorm,
  survival,
  restoration,
  leaks,
];
