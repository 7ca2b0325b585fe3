import {
  type ApiError,
  type CareSettings,
  type CareShoot,
  type Condition,
  type GardenShoot,
  mergeShootConditions,
  type Result,
  shootConditionTypes,
  shootStatus,
  type UpdatedCondition,
} from '../../domain/index.ts';
import type { KubeClient } from '../../ports/index.ts';
import { act, type Acted, gardenTimeoutMs } from './act.ts';
import { conditionsFrom, decide, decideNothing, type Findings, typesOf } from './decide.ts';
import type { GardenReader } from './garden-reader.ts';
import { observe, type ObserveDeps } from './observe.ts';
import type { ShootCare } from './report.ts';
import type { SeedObserver } from './seed-view.ts';

export interface RunDeps extends ObserveDeps {
  readonly settings: CareSettings;
  readonly observer: SeedObserver;
  /** Absent: nothing is written. */
  readonly garden?: KubeClient | undefined;
  /** Of the same garden. */
  readonly gardenReader?: GardenReader | undefined;
  readonly takeOver: boolean;
  readonly dryRun: boolean;
}

/** What the last run made of a shoot. */
export interface Remembered {
  readonly conditions: readonly Condition[];
  /** Not so when a write failed or was not to be: what is in the garden then is older. */
  readonly isStored: boolean;
}

export interface RunRequest {
  readonly namespace: string;
  /** Of the Cluster; empty where it does not say. */
  readonly seedName: string;
  /** As the Cluster has it. */
  readonly shoot: CareShoot;
  readonly remembered: Remembered | undefined;
  /** Why nothing can be checked: `shoot` is known by its name only. */
  readonly problem?: string;
  readonly signal: AbortSignal;
}

export interface RunResult {
  readonly care: ShootCare;
  /** The conditions that the new ones were made from. */
  readonly before: readonly Condition[];
  readonly remembered: Remembered;
  /** Whether the shoot took so long to answer that its runs keep those of others waiting. */
  readonly isSlow: boolean;
  /** An exception nobody foresaw, because of which nothing could be checked. */
  readonly bug?: unknown;
}

type StoredShoot = Result<GardenShoot, ApiError> | undefined;

/** What a run is measured by, however long the period is: half of it for what is read, all of it for conflicts. */
const longestPeriodMs = 180_000;
/**
 * From then on a shoot is slow; with a short period, from a quarter of what its reads may take. More than a broken tunnel takes: when those of
 * all shoots break together, all places are needed.
 */
const slowMs = 6_000;

/** Unwritten conditions go on from what was made last, or a failure would never outlast its threshold. */
const basisWith =
  ({ remembered }: RunRequest, stored: StoredShoot) =>
  (shoot: CareShoot): CareShoot =>
    remembered === undefined || (stored?.ok === true && remembered.isStored)
      ? shoot
      : { ...shoot, conditions: mergeShootConditions(shoot.conditions, remembered.conditions) };

const unwritten = (stored: StoredShoot, updates: readonly UpdatedCondition[]): Acted => {
  if (stored === undefined || stored.ok) return { writing: { kind: 'no-garden' }, updates };
  const { code, message } = stored.error;
  return { writing: code === 'NotFound' ? { kind: 'gone' } : { kind: 'failed', error: message }, updates };
};

/** Whether the Shoot of that name in the garden is another by now; one that has just been made has no UID in its status yet. */
const isAnother = ({ uid: stored }: CareShoot, { shoot: { uid } }: RunRequest): boolean =>
  stored !== '' && uid !== '' && stored !== uid;

const isElsewhere = ({ seedName: current }: CareShoot, { seedName: here }: RunRequest): boolean =>
  here !== '' && current !== '' && current !== here;

const write = async (deps: RunDeps, request: RunRequest, parts: WriteParts): Promise<Acted> => {
  const { clock, garden, settings } = deps;
  const { stored, findings, shoot, basisOf, deadline } = parts;
  const remake = (from: CareShoot): readonly UpdatedCondition[] =>
    conditionsFrom(findings, { shoot: basisOf(from), settings }, clock.now());
  if (garden === undefined || stored?.ok !== true) return unwritten(stored, remake(shoot));
  if (isAnother(stored.value.shoot, request)) return { writing: { kind: 'gone' }, updates: remake(shoot) };
  if (isElsewhere(stored.value.shoot, request)) {
    return { writing: { kind: 'elsewhere', seed: stored.value.shoot.seedName }, updates: remake(shoot) };
  }
  const { legacyStatusLabels } = settings;
  const actDeps = { clock, garden, legacyStatusLabels, takeOver: deps.takeOver, dryRun: deps.dryRun };
  return act(actDeps, { stored: stored.value, remake, deadline, signal: request.signal });
};

interface WriteParts {
  readonly stored: StoredShoot;
  readonly findings: Findings;
  readonly shoot: CareShoot;
  /** The Shoot with the conditions that new ones are made from. */
  readonly basisOf: (shoot: CareShoot) => CareShoot;
  /** Monotonic instant after which nothing is tried again. */
  readonly deadline: number;
}

/** One run for one shoot: all checks, then at most one write. Rejects only with `signal.reason`. */
export const runCare = async (deps: RunDeps, request: RunRequest): Promise<RunResult> => {
  const { clock, settings } = deps;
  const { namespace, signal } = request;
  const startedAt = clock.monotonic();
  const periodMs = Math.min(settings.syncPeriodMs, longestPeriodMs);
  const timeoutMs = periodMs / 2;
  const patience = { signal, timeoutMs: Math.min(gardenTimeoutMs, timeoutMs) };
  const stored: StoredShoot = await deps.gardenReader?.read(request.shoot, patience);
  const shoot = stored?.ok === true ? stored.value.shoot : request.shoot;
  const basisOf = basisWith(request, stored);
  const lookedAt = clock.monotonic();
  const { findings, ...unforeseen } = await find(deps, request, { shoot, timeoutMs, deadline: startedAt + timeoutMs });
  const isSlow = clock.monotonic() - lookedAt > Math.min(slowMs, timeoutMs / 4);
  const { writing, updates } = await write(deps, request, {
    ...{ stored, findings, shoot, basisOf },
    deadline: startedAt + periodMs,
  });
  const conditions = updates.map(({ condition }) => condition);
  const isNamed = request.problem !== undefined && stored?.ok !== true;
  const care: ShootCare = {
    namespace,
    shoot: { namespace: shoot.namespace, name: shoot.name },
    conditions,
    status: isNamed ? 'unknown' : shootStatus(mergeShootConditions(shoot.conditions, conditions), shoot),
    writing,
    ...(request.problem === undefined ? {} : { problem: request.problem }),
    durationMs: clock.monotonic() - startedAt,
  };
  const isStored = writing.kind !== 'failed' && writing.kind !== 'dry-run';
  return { care, before: basisOf(shoot).conditions, remembered: { conditions, isStored }, isSlow, ...unforeseen };
};

interface FindParts {
  /** As it is known best. */
  readonly shoot: CareShoot;
  readonly timeoutMs: number;
  readonly deadline: number;
}

/** What the checks find, or that there can be none. Rejects only with `signal.reason`. */
const find = async (
  deps: RunDeps,
  { namespace, remembered, problem, signal }: RunRequest,
  { shoot, timeoutMs, deadline }: FindParts,
): Promise<{ readonly findings: Findings; readonly bug?: unknown }> => {
  const { clock, settings, observer } = deps;
  if (problem !== undefined) {
    const known = shoot.conditions.length > 0 ? shoot.conditions : (remembered?.conditions ?? []);
    const types = shootConditionTypes.filter((type) => known.some((condition) => condition.type === type));
    return { findings: decideNothing(types, `the Cluster cannot be read: ${problem}`) };
  }
  try {
    const seed = observer.look(namespace, shoot);
    const secretKey = `${namespace}/${settings.kubeConfigSecretName}`;
    const view = await observe(deps, { shoot, seed, secretKey, timeoutMs, deadline, signal });
    return { findings: decide({ seed, view, shoot, settings, now: clock.now() }) };
  } catch (bug) {
    signal.throwIfAborted();
    const text = bug instanceof Error ? bug.message : String(bug);
    return { findings: decideNothing(typesOf(shoot), `unexpected error: ${text}`), bug };
  }
};
