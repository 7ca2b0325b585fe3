import { type Condition, findCondition } from '../../gardener/condition.ts';
import { generationRatio } from '../../gardener/health.ts';
import type { ManagedResourceHealth } from '../../gardener/managed-resource.ts';
import type { Finding, ShootConditionType } from '../../gardener/shoot-conditions.ts';
import { formatGoDuration } from '../../kubernetes/api/duration.ts';
import { failed, firstFinding, ifRead } from './finding.ts';
import type { CheckInput } from './observation.ts';

/** Label whose value is the Shoot's condition type for which a ManagedResource counts. */
const conditionTypeLabel = 'care.gardener.cloud/condition-type';

const countsFor = (resource: ManagedResourceHealth, type: ShootConditionType): boolean => {
  const label = resource.meta.labels[conditionTypeLabel] ?? '';
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

const toldBy = ({ reason, message }: Condition): Finding => failed(reason, message);

const outdatedFinding = (resource: ManagedResourceHealth): Finding => {
  const applied = findCondition(resource.conditions, 'ResourcesApplied');
  if (applied?.status === 'False' && applied.reason === 'ApplyFailed') return toldBy(applied);
  const { namespace, name } = resource.meta;
  const text = `observed generation of managed resource '${namespace}/${name}' outdated ${generationRatio(resource)}`;
  return failed('OutdatedStatus', text);
};

const rolloutFinding = (
  { meta, conditions }: ManagedResourceHealth,
  { settings: { managedResourceProgressingThreshold: thresholdMs }, now }: CheckInput,
): Finding | undefined => {
  const progressing = findCondition(conditions, 'ResourcesProgressing');
  if (progressing?.status !== 'True' && progressing?.status !== 'Unknown') return undefined;
  if (thresholdMs === undefined) return toldBy(progressing);
  if (now - Date.parse(progressing.lastTransitionTime) < thresholdMs) return undefined;
  const text = `ManagedResource ${meta.name} is progressing for more than ${formatGoDuration(thresholdMs)}`;
  return failed('ProgressingRolloutStuck', text);
};

const resourceFinding = (resource: ManagedResourceHealth, input: CheckInput): Finding | undefined => {
  const { meta, conditions } = resource;
  if (resource.observedGeneration !== resource.generation) return outdatedFinding(resource);
  for (const type of ['ResourcesApplied', 'ResourcesHealthy']) {
    const condition = findCondition(conditions, type);
    if (condition?.status === 'False' || condition?.status === 'Unknown') return toldBy(condition);
  }
  const stuck = rolloutFinding(resource, input);
  if (stuck !== undefined) return stuck;
  const missing = ['ResourcesApplied', 'ResourcesHealthy', 'ResourcesProgressing'].filter(
    (type) => findCondition(conditions, type) === undefined,
  );
  if (missing.length === 0) return undefined;
  const text = `ManagedResource ${meta.name} is missing the following condition(s), [${missing.join(' ')}]`;
  return failed('MissingManagedResourceCondition', text);
};

/** Returns the first failure of a ManagedResource that counts for the condition. Like gardener's CheckManagedResource (`pkg/utils/kubernetes/health/checker`). */
export const managedResourceFinding = (input: CheckInput, type: ShootConditionType): Finding | undefined =>
  ifRead(input.seed.managedResources, (resources) =>
    firstFinding(resources, (resource) => (countsFor(resource, type) ? resourceFinding(resource, input) : undefined)),
  );
