import {
  ApiError,
  type CareSettings,
  type CareShoot,
  type Condition,
  type GardenShoot,
  getGardenShoot,
  mergeShootConditions,
  type Result,
  shootStatus,
  type UpdatedCondition,
} from '../../domain/index.ts';
import type { KubeClient } from '../../ports/index.ts';
import { act, type Acted, gardenTimeoutMs } from './act.ts';
import { conditionsFrom, decide, type Findings } from './decide.ts';
import { observe, type ObserveDeps } from './observe.ts';
import type { ShootCare } from './report.ts';
import type { SeedObserver } from './seed-view.ts';

export interface RunDeps extends ObserveDeps {
  readonly settings: CareSettings;
  readonly observer: SeedObserver;
  /** Absent: nothing is written. */
  readonly garden?: KubeClient | undefined;
  readonly takeOver: boolean;
  readonly dryRun: boolean;
}

export interface RunRequest {
  readonly namespace: string;
  /** Of the Cluster; empty where it does not say. */
  readonly seedName: string;
  /** As the Cluster has it. */
  readonly shoot: CareShoot;
  /** What the last run made of it, where nothing of that is stored. */
  readonly remembered: readonly Condition[] | undefined;
  readonly signal: AbortSignal;
}

export interface RunResult {
  readonly care: ShootCare;
  /** The conditions that the new ones were made from. */
  readonly before: readonly Condition[];
}

type StoredShoot = Result<GardenShoot, ApiError> | undefined;

/** Longest time of a run's reads, whatever the period. */
const longestPeriodMs = 180_000;

const readGarden = async ({ garden }: RunDeps, { shoot, signal }: RunRequest): Promise<StoredShoot> => {
  if (garden === undefined) return undefined;
  try {
    return {
      ok: true,
      value: (await garden.call(getGardenShoot(shoot), { signal, timeoutMs: gardenTimeoutMs })).value,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) return { ok: false, error };
    throw error;
  }
};

/** Unwritten conditions go on from what was made last, or a failure would never outlast its threshold. */
const shootOf = ({ dryRun }: RunDeps, request: RunRequest, stored: StoredShoot): CareShoot => {
  const { shoot, remembered } = request;
  const known = stored?.ok === true ? stored.value.shoot : shoot;
  if (remembered === undefined || (stored?.ok === true && !dryRun)) return known;
  return { ...known, conditions: mergeShootConditions(known.conditions, remembered) };
};

const unwritten = (stored: StoredShoot, updates: readonly UpdatedCondition[]): Acted => {
  if (stored === undefined || stored.ok) return { writing: { kind: 'no-garden' }, updates };
  const { code, message } = stored.error;
  return { writing: code === 'NotFound' ? { kind: 'gone' } : { kind: 'failed', error: message }, updates };
};

const isElsewhere = ({ seedName: current }: CareShoot, { seedName: here }: RunRequest): boolean =>
  here !== '' && current !== '' && current !== here;

const write = async (deps: RunDeps, request: RunRequest, parts: WriteParts): Promise<Acted> => {
  const { clock, garden, settings } = deps;
  const { stored, findings, shoot } = parts;
  const remake = (from: CareShoot): readonly UpdatedCondition[] =>
    conditionsFrom(findings, { shoot: from, settings }, clock.now());
  if (garden === undefined || stored?.ok !== true) return unwritten(stored, remake(shoot));
  if (isElsewhere(stored.value.shoot, request)) {
    return { writing: { kind: 'elsewhere', seed: stored.value.shoot.seedName }, updates: remake(shoot) };
  }
  const { legacyStatusLabels } = settings;
  const actDeps = { clock, garden, legacyStatusLabels, takeOver: deps.takeOver, dryRun: deps.dryRun };
  return act(actDeps, { stored: { ...stored.value, shoot }, remake, signal: request.signal });
};

interface WriteParts {
  readonly stored: StoredShoot;
  readonly findings: Findings;
  readonly shoot: CareShoot;
}

/** One run for one shoot: all checks, then at most one write. Rejects only with `signal.reason`. */
export const runCare = async (deps: RunDeps, request: RunRequest): Promise<RunResult> => {
  const { clock, settings, observer } = deps;
  const { namespace, signal } = request;
  const startedAt = clock.monotonic();
  const stored = await readGarden(deps, request);
  const shoot = shootOf(deps, request, stored);
  const seed = observer.look(namespace, shoot);
  const view = await observe(deps, {
    shoot,
    seed,
    secretKey: `${namespace}/${settings.kubeConfigSecretName}`,
    timeoutMs: Math.min(settings.syncPeriodMs, longestPeriodMs) / 2,
    signal,
  });
  const findings = decide({ seed, view, shoot, settings, now: clock.now() });
  const { writing, updates } = await write(deps, request, { stored, findings, shoot });
  const conditions = updates.map(({ condition }) => condition);
  const care: ShootCare = {
    namespace,
    shoot: { namespace: shoot.namespace, name: shoot.name },
    conditions,
    status: shootStatus(mergeShootConditions(shoot.conditions, conditions), shoot),
    writing,
    durationMs: clock.monotonic() - startedAt,
  };
  return { care, before: shoot.conditions };
};
