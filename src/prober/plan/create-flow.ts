import { refKey } from '../../kubernetes/api/resource-ref.ts';
import type { DependentResource, ScaleInfo } from '../settings.ts';
import type { Flow, SnapshotOf } from './flow.ts';
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
  /** When the verdict was given. */
  readonly judgedAt: number;
  readonly verdictMaxAgeMs: number;
  /** Read every resource from the API server first: a flow that was cancelled may have written what the watch does not show yet. */
  readonly readFirst: boolean;
}

/** A flow that has yet to look at its resources. */
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
    levels: [...new Set(operations.map(({ info }) => info.level))].sort((a, b) => a - b),
    startedLevels: 0,
    levelStartedAt: plan.now,
    operations,
    verdictAt: plan.judgedAt,
    verdictMaxAgeMs: plan.verdictMaxAgeMs,
    wakeAt: Number.POSITIVE_INFINITY,
  };
};

/** A release waits for no order and no delay: it takes marks away, and gives annotated resources their former annotation back. */
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
  // What is not there carries no annotation of ours either.
  if (optional || scope === 'held') return 'absent';
  return direction === 'down' ? 'failed' : 'missing';
};

/**
 * True if there is anything to write, to read or to fail on. Without it no flow need start: waiting for resources that are at
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
