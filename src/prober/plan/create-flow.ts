import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { DependentResource, ScaleInfo } from '../settings.ts';
import type { Flow, SnapshotOf } from './flow-state.ts';
import { type Direction, type ScalingScope, narrowScope, planPatch } from './patch-plan.ts';
import type { WithoutLead } from './without-lead.ts';
import { type IfMissing, idleOperation } from './operation.ts';

export interface FlowPlan {
  readonly id: number;
  readonly direction: Direction;
  readonly scope: ScalingScope;
  readonly reason: string;
  readonly withoutLead?: WithoutLead | undefined;
  readonly resources: readonly DependentResource[];
  readonly now: number;
  /** Monotonic instant of the verdict. */
  readonly judgedAt: number;
  readonly verdictMaxAgeMs: number;
  /** True if the flow reads every resource from the API server first: a cancelled flow may have written changes that the watch does not show yet. */
  readonly readFirst: boolean;
}

/** Creates a flow that has not started yet. */
export const createFlow = (plan: FlowPlan): Flow => {
  const operations = plan.resources.flatMap((resource) => {
    const info = scaleInfo(resource, plan.direction);
    if (info === undefined) return [];
    const ifMissing = meaningOfMissing(resource, plan);
    return [idleOperation(resource, { key: refKey(resource.ref), info, ifMissing, mustRead: plan.readFirst })];
  });
  return {
    id: plan.id,
    direction: plan.direction,
    scope: plan.scope,
    reason: plan.reason,
    withoutLead: plan.withoutLead,
    startedAt: plan.now,
    // The order is the configured one: ascending by the `level` of `scaleDown` or `scaleUp`.
    levels: [...new Set(operations.map(({ info }) => info.level))].sort((a, b) => a - b),
    startedLevels: 0,
    levelStartedAt: plan.now,
    operations,
    verdictAt: plan.judgedAt,
    verdictMaxAgeMs: plan.verdictMaxAgeMs,
    wakeAt: Number.POSITIVE_INFINITY,
  };
};

/** A release needs no order and no delay: it only removes marks. */
const scaleInfo = ({ scaleUp, scaleDown }: DependentResource, direction: Direction): ScaleInfo | undefined => {
  switch (direction) {
    case 'down':
      return scaleDown;
    case 'up':
      return scaleUp;
    case 'release':
      return { level: 0, initialDelayMs: 0, timeoutMs: scaleUp.timeoutMs };
  }
};

const meaningOfMissing = (
  { optional }: DependentResource,
  { direction, scope }: Pick<FlowPlan, 'direction' | 'scope'>,
): IfMissing => {
  // A missing resource is not held.
  if (optional || scope === 'held') return 'absent';
  return direction === 'down' ? 'failed' : 'missing';
};

/**
 * True if the flow would write, read or fail. Otherwise it need not start: waiting for resources that have reached
 * their target changes nothing.
 */
export const hasWork = (plan: Omit<FlowPlan, 'id' | 'now' | 'judgedAt' | 'reason'>, snapshotOf: SnapshotOf): boolean =>
  plan.readFirst ||
  plan.resources.some((resource) => {
    if (scaleInfo(resource, plan.direction) === undefined) return false;
    const snapshot = snapshotOf(refKey(resource.ref));
    switch (snapshot.kind) {
      case 'unknown':
        return true;
      case 'absent':
      case 'not-served':
        return meaningOfMissing(resource, plan) === 'failed';
      case 'state':
        return (
          planPatch(resource, snapshot.state, { ...plan, scope: narrowScope(plan.scope, resource) }).kind === 'write'
        );
    }
  });
