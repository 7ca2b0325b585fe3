import type { GardenShoot } from '../gardener/care-shoots.ts';
import { mergeShootConditions, sameConditions } from '../gardener/shoot-conditions.ts';
import type { UpdatedCondition } from '../gardener/condition.ts';
import { shootLabelChange, shootStatus } from '../gardener/shoot-status.ts';
import type { CallOptions, KubeClient } from '../kubernetes/api/kube.ts';
import type { Clock } from '../ports/clock.ts';
import { careFieldManager, patchShootConditions, patchShootLabels } from './calls.ts';
import { type ConditionWriter, otherConditionWriter } from './condition-writers.ts';

export interface CareActDeps {
  readonly clock: Clock;
  /** Client of the garden that refuses a write right before it is sent if this process does not lead. */
  readonly garden: KubeClient;
  readonly legacyStatusLabels: boolean;
  /** True if care writes even if another client writes the same conditions. */
  readonly takeOver: boolean;
  readonly dryRun: boolean;
}

export interface CareActRequest {
  readonly stored: GardenShoot;
  /** The new conditions, computed from those of `stored`. */
  readonly updates: readonly UpdatedCondition[];
  readonly signal: AbortSignal;
}

/** The end of a check's write. */
export type WriteResult =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'written' }
  /** No connection to the garden is configured. */
  | { readonly kind: 'no-garden' }
  | { readonly kind: 'dry-run' }
  /** The garden has no such Shoot, or another Shoot of that name. */
  | { readonly kind: 'gone' }
  /** The control plane has moved to another seed, where another care writes. */
  | { readonly kind: 'elsewhere'; readonly seed: string }
  /** Another client writes the same conditions. */
  | { readonly kind: 'left-alone'; readonly writer: ConditionWriter }
  | { readonly kind: 'failed'; readonly error: string };

export const gardenTimeoutMs = 10_000;

/** Returns the conditions and labels to write, or undefined if the stored Shoot has them already. */
const changesOf = ({ legacyStatusLabels: legacy }: CareActDeps, { stored: { shoot }, updates }: CareActRequest) => {
  const fresh = updates.map(({ condition }) => condition);
  const conditions = mergeShootConditions(shoot.conditions, fresh);
  const labels = shootLabelChange(shoot.labels, { status: shootStatus(conditions, shoot), legacy });
  const isSame = sameConditions(conditions, shoot.conditions);
  const hasLabels = Object.keys(labels).length > 0;
  if (isSame && !hasLabels) return undefined;
  return { fresh: isSame ? undefined : fresh, labels: hasLabels ? labels : undefined };
};

/**
 * Writes conditions and labels to the Shoot if they differ: at most one patch each, which fails with a Conflict if the Shoot has changed since it was read.
 * Rejects with an ApiError, or with `signal.reason`.
 */
export const act = async (deps: CareActDeps, request: CareActRequest): Promise<WriteResult> => {
  const { clock, garden, takeOver, dryRun } = deps;
  const { stored, signal } = request;
  const changes = changesOf(deps, request);
  if (changes === undefined) return { kind: 'unchanged' };
  const writer = otherConditionWriter(stored.metadata, { own: careFieldManager, now: clock.now() });
  if (writer !== undefined && !takeOver) return { kind: 'left-alone', writer };
  if (dryRun) return { kind: 'dry-run' };
  // A write that was sent is awaited even if the process stops meanwhile.
  const options: CallOptions = { signal, timeoutMs: gardenTimeoutMs, sentTimeoutMs: gardenTimeoutMs };
  let latest = stored;
  if (changes.fresh !== undefined) {
    const conditions = mergeShootConditions(stored.storedConditions, changes.fresh);
    latest = (await garden.call(patchShootConditions(stored, conditions), options)).value;
  }
  if (changes.labels !== undefined) await garden.call(patchShootLabels(latest, changes.labels), options);
  return { kind: 'written' };
};
