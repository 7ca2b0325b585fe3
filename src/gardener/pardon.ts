import type { ConditionFailure } from './condition-thresholds.ts';
import { type Condition, type ConditionBase, type UpdatedCondition, updateCondition } from './condition.ts';
import type { ShootProgress } from './shoot-status.ts';

/** True if failures are expected in the current state of the Shoot. */
const expectsFailures = ({ lastOperation, hasLastErrors }: ShootProgress): boolean => {
  if (lastOperation === undefined) return true;
  const { type, state } = lastOperation;
  if ((type === 'Create' || type === 'Delete') && state !== 'Succeeded') return true;
  return state === 'Processing' && !hasLastErrors;
};

/**
 * Turns False into Progressing while the Shoot is created, deleted or reconciled; Unknown stays. `base` holds the stored condition: the timestamps are updated
 * against its status, so that they change once and not with every run. Like gardener's PardonConditions (`pkg/gardenlet/controller/shoot/care`).
 */
export const pardon = (
  { condition, changed }: UpdatedCondition,
  base: ConditionBase,
  { now, ...progress }: ShootProgress & { readonly now: number },
): UpdatedCondition => {
  if (condition.status !== 'False' || !expectsFailures(progress)) return { condition, changed };
  return updateCondition(base, { ...textOf(condition), status: 'Progressing' }, now);
};

const textOf = ({ reason, message, codes = [] }: Condition): Required<ConditionFailure> => ({ reason, message, codes });
