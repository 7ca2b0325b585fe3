import { optionalString } from '../kubernetes/api/decode.ts';
import { formatGoDuration } from '../kubernetes/api/duration.ts';
import type { ConditionFailure, ShootConditionType } from './shoot-conditions.ts';
import { findCondition } from './condition.ts';
import { type ObjectHealth, type ObjectParts, decodeParts, generationRatio, objectGetter } from './health.ts';

/** The health of a ManagedResource (`resources.gardener.cloud/v1alpha1`): `problem` for health checks, the other fields for care. */
export interface ManagedResourceHealth
  extends ObjectHealth,
    Pick<ObjectParts, 'generation' | 'observedGeneration' | 'conditions'> {
  /** `spec.class`: present if its objects are in the seed, absent if they are in the shoot. */
  readonly class?: string;
}

/** Label whose value is the Shoot's condition type for which a ManagedResource counts. */
const careConditionTypeLabel = 'care.gardener.cloud/condition-type';

/** A roll-out in progress is no problem. Like gardener's CheckManagedResource (`pkg/utils/kubernetes/health/managedresource.go`). */
const problemOf = (resource: Omit<ManagedResourceHealth, 'problem' | 'class'>): string | undefined => {
  const which = `managed resource ${resource.meta.namespace}/${resource.meta.name}`;
  if (resource.observedGeneration !== resource.generation) {
    return `observed generation of ${which} outdated ${generationRatio(resource)}`;
  }
  for (const type of ['ResourcesApplied', 'ResourcesHealthy']) {
    const condition = findCondition(resource.conditions, type);
    if (condition === undefined) return `condition ${type} for ${which} has not been reported yet`;
    const { status, message } = condition;
    if (status !== 'True') return `condition ${type} of ${which} is ${status}: ${message}`;
  }
  return undefined;
};

export const decodeManagedResourceHealth = (json: unknown, path: string): ManagedResourceHealth => {
  const { meta, generation, observedGeneration, conditions, spec } = decodeParts(json, path);
  const found = { meta, generation, observedGeneration, conditions };
  return { ...found, problem: problemOf(found), class: optionalString(spec.class, `${path}.spec.class`) };
};

export const getManagedResourceHealth = objectGetter<ManagedResourceHealth>(
  'resources.gardener.cloud/v1alpha1',
  'managedresources',
  decodeManagedResourceHealth,
);

/** True if a ManagedResource counts for the condition type. */
export const managedResourceCountsFor = (resource: ManagedResourceHealth, type: ShootConditionType): boolean => {
  const label = resource.meta.labels[careConditionTypeLabel] ?? '';
  switch (type) {
    case 'ControlPlaneHealthy':
      return resource.class !== undefined && (label === '' || label === type);
    case 'ObservabilityComponentsHealthy':
      return label === type;
    case 'SystemComponentsHealthy':
      return resource.class === undefined || label === type;
    case 'APIServerAvailable':
    case 'EveryNodeReady':
      return false;
  }
};

const outdatedFailure = (resource: ManagedResourceHealth): ConditionFailure => {
  const applied = findCondition(resource.conditions, 'ResourcesApplied');
  if (applied?.status === 'False' && applied.reason === 'ApplyFailed') return textOf(applied);
  const { namespace, name } = resource.meta;
  const message = `observed generation of managed resource '${namespace}/${name}' outdated ${generationRatio(resource)}`;
  return { reason: 'OutdatedStatus', message };
};

const textOf = ({ reason, message }: ConditionFailure): ConditionFailure => ({ reason, message });

export interface RolloutLimit {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** How long a roll-out may take, in milliseconds. If absent, every roll-out is a failure. */
  readonly progressingThresholdMs?: number | undefined;
}

const progressingFailure = (
  { meta, conditions }: ManagedResourceHealth,
  { now, progressingThresholdMs: threshold }: RolloutLimit,
): ConditionFailure | undefined => {
  const progressing = findCondition(conditions, 'ResourcesProgressing');
  if (progressing?.status !== 'True' && progressing?.status !== 'Unknown') return undefined;
  if (threshold === undefined) return textOf(progressing);
  if (now - Date.parse(progressing.lastTransitionTime) < threshold) return undefined;
  return {
    reason: 'ProgressingRolloutStuck',
    message: `ManagedResource ${meta.name} is progressing for more than ${formatGoDuration(threshold)}`,
  };
};

/**
 * Returns the reason and message with which a ManagedResource fails a Shoot's condition, or undefined if it does not. Like gardener's
 * CheckManagedResource (`pkg/utils/kubernetes/health/checker`).
 */
export const managedResourceFailure = (
  resource: ManagedResourceHealth,
  limit: RolloutLimit,
): ConditionFailure | undefined => {
  const { meta, conditions } = resource;
  if (resource.observedGeneration !== resource.generation) return outdatedFailure(resource);
  for (const type of ['ResourcesApplied', 'ResourcesHealthy']) {
    const condition = findCondition(conditions, type);
    if (condition?.status === 'False' || condition?.status === 'Unknown') return textOf(condition);
  }
  const stuck = progressingFailure(resource, limit);
  if (stuck !== undefined) return stuck;
  const missing = ['ResourcesApplied', 'ResourcesHealthy', 'ResourcesProgressing'].filter(
    (type) => findCondition(conditions, type) === undefined,
  );
  if (missing.length === 0) return undefined;
  return {
    reason: 'MissingManagedResourceCondition',
    message: `ManagedResource ${meta.name} is missing the following condition(s), [${missing.join(' ')}]`,
  };
};
