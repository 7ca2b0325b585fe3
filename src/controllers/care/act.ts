import {
  ApiError,
  type CareShoot,
  type ConditionWriter,
  type GardenShoot,
  type UpdatedCondition,
  careFieldManager,
  getGardenShoot,
  mergeShootConditions,
  otherConditionWriter,
  patchShootConditions,
  patchShootLabels,
  sameConditions,
  shootLabelChange,
  shootStatus,
} from '../../domain/index.ts';
import type { CallOptions, Clock, KubeClient } from '../../ports/index.ts';

export interface ActDeps {
  readonly clock: Clock;
  /** The garden. Refuses writes of a process that does not lead, at the moment they would leave. */
  readonly garden: KubeClient;
  readonly legacyStatusLabels: boolean;
  /** Writes although somebody else writes the same conditions. */
  readonly takeOver: boolean;
  readonly dryRun: boolean;
}

/** What became of the conditions of one run. */
export type Writing =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'written' }
  /** There is no garden to write to. */
  | { readonly kind: 'no-garden' }
  | { readonly kind: 'dry-run' }
  /** There is no such Shoot in the garden, or another has its name by now. */
  | { readonly kind: 'gone' }
  /** Its control plane has moved to another seed, whose care it is now. */
  | { readonly kind: 'elsewhere'; readonly seed: string }
  /** Somebody else writes them. */
  | { readonly kind: 'left-alone'; readonly writer: ConditionWriter }
  | { readonly kind: 'failed'; readonly error: string };

export interface Acted {
  readonly writing: Writing;
  /** As they were made last: on a conflict from other stored ones. */
  readonly updates: readonly UpdatedCondition[];
}

export interface ActRequest {
  /** As it was read at the beginning of the run. */
  readonly stored: GardenShoot;
  /** Makes the conditions of what is stored. */
  readonly remake: (shoot: CareShoot) => readonly UpdatedCondition[];
  /** Monotonic instant after which a conflict is left to the next run. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Who writes the same object over and over does not let us in; the next run tries again. */
const writeTries = 5;
export const gardenTimeoutMs = 10_000;

/** What differs from what is stored; undefined where nothing does. */
const changesOf = ({ legacyStatusLabels: legacy }: ActDeps, { shoot }: GardenShoot, updates: Acted['updates']) => {
  const fresh = updates.map(({ condition }) => condition);
  const conditions = mergeShootConditions(shoot.conditions, fresh);
  const labels = shootLabelChange(shoot.labels, { status: shootStatus(conditions, shoot), legacy });
  const isSame = sameConditions(conditions, shoot.conditions);
  const hasLabels = Object.keys(labels).length > 0;
  if (isSame && !hasLabels) return undefined;
  return { fresh: isSame ? undefined : fresh, labels: hasLabels ? labels : undefined };
};

/** One attempt: at most one patch of the conditions and one of the labels. */
const write = async (
  deps: ActDeps,
  { stored, updates }: { readonly stored: GardenShoot; readonly updates: Acted['updates'] },
  options: CallOptions,
): Promise<Writing> => {
  const { clock, garden } = deps;
  // A write that has left is awaited, also by a process that ends.
  const writing: CallOptions = { ...options, sentTimeoutMs: gardenTimeoutMs };
  const changes = changesOf(deps, stored, updates);
  if (changes === undefined) return { kind: 'unchanged' };
  const writer = otherConditionWriter(stored.metadata, { own: careFieldManager, now: clock.now() });
  if (writer !== undefined && !deps.takeOver) return { kind: 'left-alone', writer };
  if (deps.dryRun) return { kind: 'dry-run' };
  let latest = stored;
  if (changes.fresh !== undefined) {
    const conditions = mergeShootConditions(stored.storedConditions, changes.fresh);
    latest = (await garden.call(patchShootConditions(stored, conditions), writing)).value;
  }
  if (changes.labels !== undefined) await garden.call(patchShootLabels(latest, changes.labels), writing);
  return { kind: 'written' };
};

const isCode = (error: unknown, code: ApiError['code']): boolean => error instanceof ApiError && error.code === code;

/**
 * Writes conditions and labels to the Shoot where they differ. When somebody else has written in between, they are made anew from what is
 * stored then. Rejects only with `signal.reason`; a failed write is data.
 */
export const act = async (deps: ActDeps, { stored: read, remake, deadline, signal }: ActRequest): Promise<Acted> => {
  const options: CallOptions = { signal, timeoutMs: gardenTimeoutMs };
  let stored = read;
  let updates = remake(stored.shoot);
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return { writing: await write(deps, { stored, updates }, options), updates };
      } catch (error) {
        const isLast = tries === writeTries || deps.clock.monotonic() >= deadline;
        if (!isCode(error, 'Conflict') || isLast) throw error;
      }
      stored = (await deps.garden.call(getGardenShoot(stored.shoot), options)).value;
      if (stored.metadata.uid !== read.metadata.uid) return { writing: { kind: 'gone' }, updates };
      updates = remake(stored.shoot);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'NotFound') return { writing: { kind: 'gone' }, updates };
    return { writing: { kind: 'failed', error: error.message }, updates };
  }
};
