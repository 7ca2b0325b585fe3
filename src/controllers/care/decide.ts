import {
  type Condition,
  type ConditionBase,
  type CareSettings,
  type CareShoot,
  type FailureContext,
  type ShootConditionType,
  type UpdatedCondition,
  failedCondition,
  findCondition,
  pardonedCondition,
  shootConditionTypes,
  updateCondition,
} from '../../domain/index.ts';
import { checkApiServer, withoutResponseTime } from './api-server.ts';
import { checkControlPlane } from './control-plane.ts';
import { type Finding, healthy, unchecked } from './finding.ts';
import { checkNodes } from './nodes.ts';
import { checkObservability } from './observability.ts';
import { type Circumstances, hasWorkers } from './observation.ts';
import { checkSystemComponents } from './system-components.ts';

/** What was found, by type of the condition, in the order in which they are written. */
export type Findings = ReadonlyMap<ShootConditionType, Finding>;

const checks: Readonly<Record<ShootConditionType, (circumstances: Circumstances) => Finding>> = {
  APIServerAvailable: checkApiServer,
  ControlPlaneHealthy: checkControlPlane,
  ObservabilityComponentsHealthy: checkObservability,
  EveryNodeReady: checkNodes,
  SystemComponentsHealthy: checkSystemComponents,
};

/** What holds for all types, whatever their checks would say. */
const commonFinding = ({ shoot, seed }: Circumstances): Finding | undefined => {
  if (shoot.hibernated) return healthy('ConditionNotChecked', 'Shoot cluster has been hibernated.');
  const { managedResources } = seed;
  if (managedResources.ok) return undefined;
  return {
    status: 'False',
    reason: 'ManagedResourceListingFailed',
    message: `Failed listing ManagedResources: ${managedResources.error}`,
  };
};

/** Types of conditions that the shoot has. */
export const typesOf = (shoot: CareShoot): readonly ShootConditionType[] =>
  shootConditionTypes.filter((type) => type !== 'EveryNodeReady' || hasWorkers(shoot));

/** All checks of one run. Pure. */
export const decide = (circumstances: Circumstances): Findings => {
  const common = commonFinding(circumstances);
  return new Map(typesOf(circumstances.shoot).map((type) => [type, common ?? checks[type](circumstances)]));
};

/** When no check can be carried out: stored conditions must not look fresh. */
export const decideNothing = (types: readonly ShootConditionType[], problem: string): Findings =>
  new Map(types.map((type) => [type, unchecked(problem)]));

const conditionOf = (base: ConditionBase, finding: Finding, context: FailureContext): UpdatedCondition => {
  const { status, ...text } = finding;
  return status === 'Failed'
    ? failedCondition(base, text, context)
    : updateCondition(base, { ...text, status }, context.now);
};

/** The old message where the new one differs only in how long an answer took. */
const steady = (finding: Finding, old: Condition | undefined): Finding => {
  if (old === undefined || withoutResponseTime(old.message) !== withoutResponseTime(finding.message)) return finding;
  return { ...finding, message: old.message };
};

/**
 * The conditions that findings make of the stored ones, at `now` (milliseconds since the epoch). Results are kept on a conflict, conditions
 * are not: thresholds and pardon depend on what is stored.
 */
export const conditionsFrom = (
  findings: Findings,
  { shoot, settings }: { readonly shoot: CareShoot; readonly settings: CareSettings },
  now: number,
): readonly UpdatedCondition[] => {
  const { lastOperation, hasLastErrors } = shoot;
  const thresholds = new Map(settings.conditionThresholds.map(({ type, thresholdMs }) => [type, thresholdMs]));
  return Array.from(findings, ([type, found]) => {
    const base = { type, old: findCondition(shoot.conditions, type) };
    const finding = type === 'APIServerAvailable' ? steady(found, base.old) : found;
    const updated = conditionOf(base, finding, { now, thresholds, lastOperation });
    return pardonedCondition(updated, base, { lastOperation, hasLastErrors, now });
  });
};
