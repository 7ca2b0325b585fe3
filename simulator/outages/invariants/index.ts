import type { Plan } from '../plan.ts';
import { counts } from './counts.ts';
import { missingSecret } from './missing-secret.ts';
import { givenBack } from './given-back.ts';
import type { Invariant } from './invariant.ts';
import { landing } from './landing.ts';
import { dryRunWritesNothing, noWriteAfterLoss, oneLeader } from './leadership.ts';
import { atRest, leaks } from './leaks.ts';
import { levels } from './levels.ts';
import { keepsProbing, noStorm } from './liveness.ts';
import { noNeedlessScaleDown } from './needless.ts';
import { paused } from './paused.ts';
import { noNodeLost, protection } from './protection.ts';
import { restoration } from './restoration.ts';
import { inLeadersPlace, noSecondThoughts } from './standby.ts';
import { survival } from './survival.ts';
import { weeded } from './weeded.ts';
import { noCrashLoop, preciseDeletes, weedsOnly } from './weeding.ts';

export type { Checker, Invariant, Known } from './invariant.ts';

/** Invariants of both components. */
const ofAll: readonly Invariant[] = [
  oneLeader,
  noWriteAfterLoss,
  dryRunWritesNothing,
  noStorm,
  survival,
  atRest,
  leaks,
];

const ofProbers: readonly Invariant[] = [
  noNeedlessScaleDown,
  counts,
  levels,
  noNodeLost,
  protection,
  keepsProbing,
  restoration,
  landing,
  missingSecret,
  givenBack,
  inLeadersPlace,
  noSecondThoughts,
  paused,
];

const ofWeeders: readonly Invariant[] = [weedsOnly, noCrashLoop, preciseDeletes, weeded];

export const invariantsOf = ({ component }: Pick<Plan, 'component'>): readonly Invariant[] => [
  ...(component === 'prober' ? ofProbers : ofWeeders),
  ...ofAll,
];
