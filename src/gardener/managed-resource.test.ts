import { describe, expect, it } from 'vitest';
import { formatTime } from '../kubernetes/api/meta-time.ts';
import { shootConditionTypes } from './shoot-conditions.ts';
import { decodeManagedResourceHealth, managedResourceCountsFor, managedResourceFailure } from './managed-resource.ts';

const now = Date.parse('2026-11-21T06:00:00Z');

const condition = (type: string, status: string, ageMs = 0) => ({
  type,
  status,
  reason: `${type}${status}`,
  message: `${type} is ${status}.`,
  lastTransitionTime: formatTime(now - ageMs),
});
const applied = condition('ResourcesApplied', 'True');
const healthy = condition('ResourcesHealthy', 'True');
const settled = condition('ResourcesProgressing', 'False');

const resource = (
  conditions: readonly object[],
  options: { observedGeneration?: number; class?: string | null } = {},
) =>
  decodeManagedResourceHealth(
    {
      metadata: { name: 'addons', namespace: 'shoot--dev--one', generation: 3 },
      spec: { class: options.class },
      status: { observedGeneration: options.observedGeneration ?? 3, conditions },
    },
    'managedresource',
  );

describe('a ManagedResource in care', () => {
  const failed = (type: string, status: string) => ({ reason: `${type}${status}`, message: `${type} is ${status}.` });
  const missing = (types: string) => ({
    reason: 'MissingManagedResourceCondition',
    message: `ManagedResource addons is missing the following condition(s), [${types}]`,
  });

  it.each([
    ['applied, healthy and settled', [applied, healthy, settled], undefined],
    ['not applied', [condition('ResourcesApplied', 'False'), healthy, settled], failed('ResourcesApplied', 'False')],
    [
      'ResourcesApplied unknown',
      [condition('ResourcesApplied', 'Unknown'), settled],
      failed('ResourcesApplied', 'Unknown'),
    ],
    ['being applied', [condition('ResourcesApplied', 'Progressing'), healthy, settled], undefined],
    ['not healthy', [applied, condition('ResourcesHealthy', 'False'), settled], failed('ResourcesHealthy', 'False')],
    [
      'progressing',
      [applied, healthy, condition('ResourcesProgressing', 'True')],
      failed('ResourcesProgressing', 'True'),
    ],
    [
      'wrong in every way',
      [
        condition('ResourcesProgressing', 'True'),
        condition('ResourcesHealthy', 'False'),
        condition('ResourcesApplied', 'False'),
      ],
      failed('ResourcesApplied', 'False'),
    ],
    ['unhealthy and not yet applied', [condition('ResourcesHealthy', 'False')], failed('ResourcesHealthy', 'False')],
    ['new', [], missing('ResourcesApplied ResourcesHealthy ResourcesProgressing')],
    ['without the last condition', [applied, healthy], missing('ResourcesProgressing')],
  ])('%s', (_, conditions, failure) => {
    expect(managedResourceFailure(resource(conditions), { now })).toEqual(failure);
  });

  describe('whose generation differs', () => {
    const outdated = (observed: number) => ({
      reason: 'OutdatedStatus',
      message: `observed generation of managed resource 'shoot--dev--one/addons' outdated (${observed}/3)`,
    });
    const applyFailed = { ...condition('ResourcesApplied', 'False'), reason: 'ApplyFailed', message: 'is invalid' };

    it.each([
      ['is outdated', 2, [applied, healthy, settled], outdated(2)],
      ['fails with the error of applying', 2, [applyFailed], { reason: 'ApplyFailed', message: 'is invalid' }],
    ])('%s', (_, observedGeneration, conditions, failure) => {
      expect(managedResourceFailure(resource(conditions, { observedGeneration }), { now })).toEqual(failure);
    });
  });

  it.each([
    ['True', 299_000, true],
    ['True', 300_000, false],
    ['Unknown', 3_600_000, false],
  ])('with a threshold of 5 minutes, progressing %s for %d ms', (status, ageMs, tolerated) => {
    const rolling = resource([applied, healthy, condition('ResourcesProgressing', status, ageMs)]);
    const stuck = {
      reason: 'ProgressingRolloutStuck',
      message: 'ManagedResource addons is progressing for more than 5m0s',
    };
    expect(managedResourceFailure(rolling, { now, progressingThresholdMs: 300_000 })).toEqual(
      tolerated ? undefined : stuck,
    );
  });
});

describe('a ManagedResource of a health check', () => {
  const which = 'managed resource shoot--dev--one/addons';
  it.each([
    ['applied and healthy', [applied, healthy], {}, undefined],
    ['progressing', [applied, healthy, condition('ResourcesProgressing', 'True')], {}, undefined],
    ['outdated', [applied, healthy], { observedGeneration: 2 }, `observed generation of ${which} outdated (2/3)`],
    ['ahead', [applied, healthy], { observedGeneration: 4 }, `observed generation of ${which} outdated (4/3)`],
    ['new', [], {}, `condition ResourcesApplied for ${which} has not been reported yet`],
    ['not yet healthy', [applied], {}, `condition ResourcesHealthy for ${which} has not been reported yet`],
    [
      'unhealthy',
      [applied, condition('ResourcesHealthy', 'False')],
      {},
      `condition ResourcesHealthy of ${which} is False: ResourcesHealthy is False.`,
    ],
  ])('%s', (_, conditions, options, problem) => {
    expect(resource(conditions, options).problem).toBe(problem);
  });
});

describe('the conditions for which a ManagedResource counts', () => {
  it.each([
    ['seed', undefined, ['ControlPlaneHealthy']],
    ['seed', 'ControlPlaneHealthy', ['ControlPlaneHealthy']],
    ['seed', 'ObservabilityComponentsHealthy', ['ObservabilityComponentsHealthy']],
    ['seed', 'SystemComponentsHealthy', ['SystemComponentsHealthy']],
    ['seed', 'EveryNodeReady', []],
    [null, undefined, ['SystemComponentsHealthy']],
    [undefined, 'ControlPlaneHealthy', ['SystemComponentsHealthy']],
    [undefined, 'ObservabilityComponentsHealthy', ['ObservabilityComponentsHealthy', 'SystemComponentsHealthy']],
  ])('class %j, label %j: %j', (resourceClass, label, types) => {
    const labels = label === undefined ? {} : { 'care.gardener.cloud/condition-type': label };
    const object = { metadata: { name: 'addons', labels }, spec: { class: resourceClass } };
    const decoded = decodeManagedResourceHealth(object, 'managedresource');
    expect(shootConditionTypes.filter((type) => managedResourceCountsFor(decoded, type))).toEqual(types);
  });
});
