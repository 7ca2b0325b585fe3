import { optionalString } from '../kubernetes/api/decode.ts';
import { findCondition } from './condition.ts';
import { type ObjectHealth, type ObjectParts, decodeParts, generationRatio, objectGetter } from './health.ts';

/** The health of a ManagedResource (`resources.gardener.cloud/v1alpha1`): `problem` for health checks, the other fields for care. */
export interface ManagedResourceHealth
  extends ObjectHealth,
    Pick<ObjectParts, 'generation' | 'observedGeneration' | 'conditions'> {
  /** `spec.class`: present if its objects are in the seed, absent if they are in the shoot. */
  readonly class?: string;
}

/** A roll-out in progress is no problem. Like gardener's CheckManagedResource (`pkg/utils/kubernetes/health/managedresource.go`). */
const problemOf = (parts: ObjectParts): string | undefined => {
  const which = `managed resource ${parts.meta.namespace}/${parts.meta.name}`;
  if (parts.observedGeneration !== parts.generation) {
    return `observed generation of ${which} outdated ${generationRatio(parts)}`;
  }
  for (const type of ['ResourcesApplied', 'ResourcesHealthy']) {
    const condition = findCondition(parts.conditions, type);
    if (condition === undefined) return `condition ${type} for ${which} has not been reported yet`;
    const { status, message } = condition;
    if (status !== 'True') return `condition ${type} of ${which} is ${status}: ${message}`;
  }
  return undefined;
};

export const decodeManagedResourceHealth = (json: unknown, path: string): ManagedResourceHealth => {
  const parts = decodeParts(json, path);
  const { meta, generation, observedGeneration, conditions, spec } = parts;
  return {
    ...{ meta, generation, observedGeneration, conditions },
    problem: problemOf(parts),
    class: optionalString(spec.class, `${path}.spec.class`),
  };
};

export const getManagedResourceHealth = objectGetter<ManagedResourceHealth>(
  'resources.gardener.cloud/v1alpha1',
  'managedresources',
  decodeManagedResourceHealth,
);
