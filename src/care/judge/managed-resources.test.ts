import { describe, expect, it } from 'vitest';
import type { Condition } from '../../gardener/condition.ts';
import { shootConditionTypes } from '../../gardener/shoot-conditions.ts';
import { ago, checkInput, condition, managedResource, meta, ok } from '../testing/check-input.ts';
import { failed } from './finding.ts';
import { managedResourceFinding } from './managed-resources.ts';

const find = (
  more: Parameters<typeof managedResource>[1],
  managedResourceProgressingThreshold?: number,
  type: Parameters<typeof managedResourceFinding>[1] = 'SystemComponentsHealthy',
) => {
  const managedResources = ok([managedResource('addons', more)]);
  return managedResourceFinding(
    checkInput({ seed: { managedResources }, settings: { managedResourceProgressingThreshold } }),
    type,
  );
};
const told = (type: string) => failed(`${type}Reason`, `${type} says so.`);
const missing = (types: string) =>
  failed('MissingManagedResourceCondition', `ManagedResource addons is missing the following condition(s), [${types}]`);

const [applied, unapplied] = [condition('ResourcesApplied', 'True'), condition('ResourcesApplied', 'False')];
const [healthy, unhealthy] = [condition('ResourcesHealthy', 'True'), condition('ResourcesHealthy', 'False')];
const [settled, rolling] = [condition('ResourcesProgressing', 'False'), condition('ResourcesProgressing', 'True')];

describe('a ManagedResource', () => {
  it.each<[string, readonly Condition[], object | undefined]>([
    ['applied, healthy and settled', [applied, healthy, settled], undefined],
    ['not known to be applied', [condition('ResourcesApplied', 'Unknown'), settled], told('ResourcesApplied')],
    ['being applied', [condition('ResourcesApplied', 'Progressing'), healthy, settled], undefined],
    ['rolling out', [applied, healthy, rolling], told('ResourcesProgressing')],
    ['wrong in every way', [rolling, unhealthy, unapplied], told('ResourcesApplied')],
    ['unhealthy and not yet applied', [unhealthy], told('ResourcesHealthy')],
    ['new', [], missing('ResourcesApplied ResourcesHealthy ResourcesProgressing')],
    ['without the last condition', [applied, healthy], missing('ResourcesProgressing')],
  ])('%s', (_, conditions, finding) => {
    expect(find({ conditions })).toEqual(finding);
  });

  it('with another generation is outdated, unless it could not be applied', () => {
    const text = "observed generation of managed resource 'shoot--dev--one/addons' outdated (2/1)";
    expect(find({ observedGeneration: 2 })).toEqual(failed('OutdatedStatus', text));
    const conditions = [{ ...unapplied, reason: 'ApplyFailed' }];
    expect(find({ observedGeneration: 2, conditions })?.reason).toBe('ApplyFailed');
  });

  it.each([
    ['True', 299, false],
    ['True', 300, true],
    ['Unknown', 3_600, true],
  ])('with a threshold of 5 minutes, progressing %s for %d s, is stuck: %s', (status, seconds, isStuck) => {
    const progressing = condition('ResourcesProgressing', status, { lastTransitionTime: ago(seconds) });
    const stuck = failed('ProgressingRolloutStuck', 'ManagedResource addons is progressing for more than 5m0s');
    expect(find({ conditions: [applied, healthy, progressing] }, 300_000)).toEqual(isStuck ? stuck : undefined);
  });

  it.each([
    ['seed', undefined, ['ControlPlaneHealthy']],
    ['seed', 'ControlPlaneHealthy', ['ControlPlaneHealthy']],
    ['seed', 'ObservabilityComponentsHealthy', ['ObservabilityComponentsHealthy']],
    ['seed', 'SystemComponentsHealthy', ['SystemComponentsHealthy']],
    ['seed', 'EveryNodeReady', []],
    [undefined, 'ControlPlaneHealthy', ['SystemComponentsHealthy']],
    [undefined, 'ObservabilityComponentsHealthy', ['ObservabilityComponentsHealthy', 'SystemComponentsHealthy']],
  ])('of class %j with label %j counts for %j', (ofClass, label, types) => {
    const labels = label === undefined ? undefined : { 'care.gardener.cloud/condition-type': label };
    const more = { class: ofClass, conditions: [], meta: meta('addons', labels) };
    expect(shootConditionTypes.filter((type) => find(more, undefined, type) !== undefined)).toEqual(types);
  });
});
