import type { ConditionFailure } from './condition-thresholds.ts';
import { type Condition, type ConditionBase, type UpdatedCondition, updateCondition } from './condition.ts';
import type { ShootProgress } from './shoot-status.ts';

/** True if the Shoot is in a state in which failures are to be expected. */
const expectsFailures = ({ lastOperation, hasLastErrors }: ShootProgress): boolean => {
  if (lastOperation === undefined) return true;
  const { type, state } = lastOperation;
  if ((type === 'Create' || type === 'Delete') && state !== 'Succeeded') return true;
  return state === 'Processing' && !hasLastErrors;
};

/**
 * Turns False into Progressing while the Shoot is created, deleted or processed; Unknown stays. `base` is what the condition was made from: the
 * times follow from the stored status, so that they move once and not with every run. As gardener's PardonConditions
 * (`pkg/gardenlet/controller/shoot/care`).
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
