import type { CareShoot } from '../../gardener/care-shoots.ts';
import { type ShootConditionType, shootConditionTypes } from '../../gardener/shoot-conditions.ts';
import { type FailureContext, failedCondition } from '../../gardener/condition-thresholds.ts';
import { pardon } from '../../gardener/pardon.ts';
import {
  type Condition,
  type ConditionBase,
  type UpdatedCondition,
  findCondition,
  updateCondition,
} from '../../gardener/condition.ts';
import type { CareSettings } from '../settings.ts';
import { checkApiServer, withoutResponseTime } from './api-server.ts';
import { checkControlPlane } from './control-plane.ts';
import { type Finding, checkError, healthy } from './finding.ts';
import { checkNodes } from './nodes.ts';
import { checkObservability } from './observability.ts';
import { type CheckInput, type CareDecideInput, type CareObservation, hasWorkers } from './observation.ts';
import { checkSystemComponents } from './system-components.ts';

/** Findings by condition type, in the order in which conditions are written. */
export type Findings = ReadonlyMap<ShootConditionType, Finding>;

const checks: Readonly<Record<ShootConditionType, (input: CheckInput) => Finding>> = {
  APIServerAvailable: checkApiServer,
  ControlPlaneHealthy: checkControlPlane,
  ObservabilityComponentsHealthy: checkObservability,
  EveryNodeReady: checkNodes,
  SystemComponentsHealthy: checkSystemComponents,
};

/** Returns the finding that replaces those of all checks, if there is one. */
const commonFinding = ({ shoot, seed }: CheckInput): Finding | undefined => {
  if (shoot.hibernated) return healthy('ConditionNotChecked', 'Shoot cluster has been hibernated.');
  const { managedResources } = seed;
  if (managedResources.ok) return undefined;
  // False at once, without a threshold, like gardenlet.
  return {
    status: 'False',
    reason: 'ManagedResourceListingFailed',
    message: `Failed listing ManagedResources: ${managedResources.error}`,
  };
};

/** Returns the condition types that care writes for this shoot. */
export const typesOf = (shoot: CareShoot): readonly ShootConditionType[] =>
  shootConditionTypes.filter((type) => type !== 'EveryNodeReady' || hasWorkers(shoot));

/** Runs all checks of one shoot. Pure. */
export const runChecks = (observation: CareObservation, input: CareDecideInput): Findings => {
  const all = { ...observation, ...input };
  const common = commonFinding(all);
  return new Map(typesOf(input.shoot).map((type) => [type, common ?? checks[type](all)]));
};

/** Returns Unknown for all types, for a shoot that cannot be checked: its stored conditions must not look up to date. */
export const allUnknown = (types: readonly ShootConditionType[], problem: string): Findings =>
  new Map(types.map((type) => [type, checkError(problem)]));

const conditionOf = (base: ConditionBase, finding: Finding, context: FailureContext): UpdatedCondition => {
  const { status, ...text } = finding;
  return status === 'Failed'
    ? failedCondition(base, text, context)
    : updateCondition(base, { ...text, status }, context.now);
};

/** Keeps the old message if the new one differs only in its response time. */
const withoutNewResponseTime = (finding: Finding, old: Condition | undefined): Finding => {
  if (old === undefined || withoutResponseTime(old.message) !== withoutResponseTime(finding.message)) return finding;
  return { ...finding, message: old.message };
};

/** Computes conditions from findings and the stored conditions, at `now` (milliseconds since the epoch). Call it again after a conflict. */
export const conditionsFrom = (
  findings: Findings,
  { shoot, settings }: { readonly shoot: CareShoot; readonly settings: CareSettings },
  now: number,
): readonly UpdatedCondition[] => {
  const { lastOperation, hasLastErrors } = shoot;
  const thresholds = new Map(settings.conditionThresholds.map(({ type, thresholdMs }) => [type, thresholdMs]));
  return Array.from(findings, ([type, found]) => {
    const base = { type, old: findCondition(shoot.conditions, type) };
    const finding = type === 'APIServerAvailable' ? withoutNewResponseTime(found, base.old) : found;
    const updated = conditionOf(base, finding, { now, thresholds, lastOperation });
    return pardon(updated, base, { lastOperation, hasLastErrors, now });
  });
};
