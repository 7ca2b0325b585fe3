import type { CareShoot } from '../../gardener/care-shoots.ts';
import { type Condition, findCondition } from '../../gardener/condition.ts';
import {
  type Finding,
  type ShootConditionType,
  shootCondition,
  shootConditionTypes,
} from '../../gardener/shoot-conditions.ts';
import { apiServerFinding, withoutResponseTime } from './api-server.ts';
import { observabilityFinding, tunnelFinding } from './components.ts';
import { controlPlaneFinding } from './control-plane.ts';
import { extensionFinding } from './extensions.ts';
import { checkError, healthy, unreachableFinding } from './finding.ts';
import { managedResourceFinding } from './managed-resources.ts';
import { nodesFinding } from './nodes.ts';
import { type CheckInput, hasWorkers } from './observation.ts';

/** Findings by condition type, in the order in which conditions are written. */
export type Findings = ReadonlyMap<ShootConditionType, Finding>;

/**
 * The conditions of a Shoot, each with its checks in order: the first problem decides. Like gardener's `pkg/utils/kubernetes/health/checker` and
 * `shoot/care/health.go`.
 */
const findingsOf: Readonly<Record<ShootConditionType, (input: CheckInput, type: ShootConditionType) => Finding>> = {
  APIServerAvailable: apiServerFinding,
  ControlPlaneHealthy: (input, type) =>
    extensionFinding(input, type) ??
    controlPlaneFinding(input) ??
    managedResourceFinding(input, type) ??
    healthy('ControlPlaneRunning', 'All control plane components are healthy.'),
  ObservabilityComponentsHealthy: (input, type) =>
    extensionFinding(input, type) ??
    observabilityFinding(input) ??
    managedResourceFinding(input, type) ??
    healthy('ObservabilityComponentsRunning', 'All observability components are healthy.'),
  EveryNodeReady: (input, type) =>
    unreachableFinding(input) ??
    extensionFinding(input, type) ??
    nodesFinding(input) ??
    healthy('EveryNodeReady', 'All nodes are ready.'),
  SystemComponentsHealthy: (input, type) =>
    unreachableFinding(input) ??
    extensionFinding(input, type) ??
    managedResourceFinding(input, type) ??
    tunnelFinding(input) ??
    healthy('SystemComponentsRunning', 'All system components are healthy.'),
};

/** Returns the finding that replaces those of all checks, if there is one. */
const commonFinding = ({ shoot, seed }: CheckInput): Finding | undefined => {
  if (shoot.hibernated) return healthy('ConditionNotChecked', 'Shoot cluster has been hibernated.');
  const { managedResources } = seed;
  if (managedResources.ok || managedResources.isPending === true) return undefined;
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

/** Judges one shoot. */
export const judge = (input: CheckInput): Findings => {
  const common = commonFinding(input);
  return new Map(typesOf(input.shoot).map((type) => [type, common ?? findingsOf[type](input, type)]));
};

/** Returns Unknown for all types, for a shoot that cannot be checked: its stored conditions must not look up to date. */
export const allUnknown = (types: readonly ShootConditionType[], problem: string): Findings =>
  new Map(types.map((type) => [type, checkError(problem)]));

/** Keeps the old message if the new one differs only in its response time. */
const withoutNewResponseTime = (finding: Finding, old: Condition | undefined): Finding => {
  if (old === undefined || withoutResponseTime(old.message) !== withoutResponseTime(finding.message)) return finding;
  return { ...finding, message: old.message };
};

/** Computes conditions from findings and the stored conditions, at `now` (milliseconds since the epoch). Call it again after a conflict. */
export const conditionsFrom = (
  findings: Findings,
  { shoot, settings }: Pick<CheckInput, 'shoot' | 'settings'>,
  now: number,
): readonly Condition[] => {
  const { conditions, lastOperation, hasLastErrors } = shoot;
  return Array.from(findings, ([type, found]) => {
    const old = findCondition(conditions, type);
    const finding = type === 'APIServerAvailable' ? withoutNewResponseTime(found, old) : found;
    const thresholdMs = settings.conditionThresholds.find((threshold) => threshold.type === type)?.duration;
    return shootCondition({ type, old }, finding, { now, thresholdMs, lastOperation, hasLastErrors });
  });
};
