import type { CareShoot, GardenShoot } from '../gardener/care-shoots.ts';
import { mergeShootConditions, shootConditionTypes } from '../gardener/shoot-conditions.ts';
import type { Condition } from '../gardener/condition.ts';
import { shootStatus } from '../gardener/shoot-status.ts';
import { type ApiError, type Result, errorText } from '../kubernetes/api/errors.ts';
import type { KubeClient } from '../kubernetes/api/kube.ts';
import { type WriteResult, gardenTimeoutMs } from './act.ts';
import { type Findings, allUnknown, conditionsFrom, runChecks, typesOf } from './checks/run-checks.ts';
import type { GardenReader } from './garden-reader.ts';
import { type ObserveDeps, observe } from './observe.ts';
import type { ShootResult } from './report.ts';
import type { SeedObserver } from './seed-observer.ts';
import type { CareSettings } from './settings.ts';
import { type Written, failureOf, writeConditions } from './write.ts';

export interface ShootCheckDeps extends ObserveDeps {
  readonly settings: CareSettings;
  readonly observer: SeedObserver;
  /** Client of the garden. If absent, care writes nothing. */
  readonly garden?: KubeClient | undefined;
  /** Reader of Shoots in the same garden. */
  readonly gardenReader?: GardenReader | undefined;
  readonly takeOver: boolean;
  readonly dryRun: boolean;
}

/** The shoot to check, from its Cluster. */
export interface CheckTarget {
  /** Name of the seed in the Cluster; empty if unknown. */
  readonly seedName: string;
  readonly shoot: CareShoot;
  /** The reason why the Shoot cannot be decoded. Then only its name is known. */
  readonly problem?: string;
}

/** Result of the last check. */
export interface LastCheck {
  readonly conditions: readonly Condition[];
  /** False if the write failed or was a dry run: the garden then has older conditions. */
  readonly isStored: boolean;
}

export interface CheckReport {
  readonly result: ShootResult;
  /** Conditions from which those of the result were computed. */
  readonly before: readonly Condition[];
  /** Unexpected exception during the check, which made all conditions Unknown. */
  readonly bug?: unknown;
}

/** The Shoot in the garden; undefined without a garden. */
type StoredShoot = Result<GardenShoot, ApiError> | undefined;

/** Time limits of a check. Points in time are monotonic milliseconds. */
interface Bounds {
  readonly startedAt: number;
  /** Timeout of all reads together. */
  readonly timeoutMs: number;
  readonly readsEnd: number;
  /** Time after which a conflict is not retried but left to the next check. */
  readonly writesEnd: number;
  readonly signal: AbortSignal;
}

interface WriteParts {
  readonly target: CheckTarget;
  readonly stored: StoredShoot;
  readonly shoot: CareShoot;
  readonly findings: Findings;
  readonly bounds: Bounds;
}

/** Upper limit of the time that a check gets from its sync period, in milliseconds. */
const maxPeriodMs = 180_000;
/**
 * A shoot is slow if its observation takes longer than this, in milliseconds, or than a quarter of the time for reads. The timeout of a broken tunnel is
 * shorter: if all tunnels break together, no shoot may count as slow.
 */
const slowMs = 6_000;

/** Checks one shoot, again and again. */
export class ShootCheck {
  readonly #deps: ShootCheckDeps;
  /** Namespace of the control plane. */
  readonly #namespace: string;
  #last: LastCheck | undefined;
  #isSlow = false;

  constructor(deps: ShootCheckDeps, namespace: string, last: LastCheck | undefined) {
    this.#deps = deps;
    this.#namespace = namespace;
    this.#last = last;
  }

  get last(): LastCheck | undefined {
    return this.#last;
  }

  /** True if the last check waited so long for the shoot's API server that its next one must not delay the checks of other shoots. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  /** Runs one check: reads, judges, and writes differences. Rejects only with `signal.reason`, or for a bug of the write. */
  async run(target: CheckTarget, signal: AbortSignal): Promise<CheckReport> {
    const { clock, gardenReader } = this.#deps;
    const bounds = this.#bounds(signal);
    const { startedAt, timeoutMs } = bounds;
    const stored = await gardenReader?.read(target.shoot, { signal, timeoutMs: Math.min(gardenTimeoutMs, timeoutMs) });
    const shoot = stored?.ok === true ? stored.value.shoot : target.shoot;
    const before = this.#withNewerConditions(stored, shoot).conditions;
    const observedAt = clock.monotonic();
    const { findings, ...bug } = await this.#observeAndCheck(target, shoot, bounds);
    this.#isSlow = clock.monotonic() - observedAt > Math.min(slowMs, timeoutMs / 4);
    const { writing, updates } = await this.#write({ target, stored, shoot, findings, bounds });
    const conditions = updates.map(({ condition }) => condition);
    this.#last = { conditions, isStored: writing.kind !== 'failed' && writing.kind !== 'dry-run' };
    const isKnown = target.problem === undefined || stored?.ok === true;
    const result: ShootResult = {
      namespace: this.#namespace,
      shoot: { namespace: shoot.namespace, name: shoot.name },
      conditions,
      status: isKnown ? shootStatus(mergeShootConditions(shoot.conditions, conditions), shoot) : 'unknown',
      writing,
      ...(target.problem === undefined ? {} : { problem: target.problem }),
      durationMs: clock.monotonic() - startedAt,
    };
    return { result, before, ...bug };
  }

  #bounds(signal: AbortSignal): Bounds {
    const startedAt = this.#deps.clock.monotonic();
    const periodMs = Math.min(this.#deps.settings.syncPeriodMs, maxPeriodMs);
    const timeoutMs = periodMs / 2;
    return { startedAt, timeoutMs, readsEnd: startedAt + timeoutMs, writesEnd: startedAt + periodMs, signal };
  }

  /** Returns the Shoot with the conditions from which new ones are computed: the stored ones, or newer ones that could not be written. */
  #withNewerConditions(stored: StoredShoot, shoot: CareShoot): CareShoot {
    const last = this.#last;
    if (last === undefined || (stored?.ok === true && last.isStored)) return shoot;
    return { ...shoot, conditions: mergeShootConditions(shoot.conditions, last.conditions) };
  }

  /** Observes and judges. An exception makes all conditions Unknown; rejects only with `signal.reason`. */
  async #observeAndCheck(
    { problem }: CheckTarget,
    shoot: CareShoot,
    { timeoutMs, readsEnd: deadline, signal }: Bounds,
  ): Promise<{ readonly findings: Findings; readonly bug?: unknown }> {
    if (problem !== undefined) return { findings: this.#undecodable(problem, shoot) };
    const { clock, settings, observer } = this.#deps;
    const namespace = this.#namespace;
    try {
      const seed = observer.observe(namespace, shoot);
      const secretKey = `${namespace}/${settings.kubeConfigSecretName}`;
      const view = await observe(this.#deps, { shoot, seed, secretKey, timeoutMs, deadline, signal });
      return { findings: runChecks({ seed, view }, { shoot, settings, now: clock.now() }) };
    } catch (bug) {
      signal.throwIfAborted();
      const text = errorText(bug);
      return { findings: allUnknown(typesOf(shoot), `unexpected error: ${text}`), bug };
    }
  }

  #undecodable(problem: string, { conditions }: CareShoot): Findings {
    const known = conditions.length > 0 ? conditions : (this.#last?.conditions ?? []);
    const types = shootConditionTypes.filter((type) => known.some((condition) => condition.type === type));
    return allUnknown(types, `the Cluster cannot be read: ${problem}`);
  }

  async #write({ target, stored, shoot, findings, bounds }: WriteParts): Promise<Written> {
    const { clock, garden, settings } = this.#deps;
    const updatesOf = (from: CareShoot): Written['updates'] =>
      conditionsFrom(findings, { shoot: this.#withNewerConditions(stored, from), settings }, clock.now());
    const refusal = refusalOf(stored, target);
    if (garden === undefined || stored?.ok !== true || refusal !== undefined) {
      return { writing: refusal ?? { kind: 'no-garden' }, updates: updatesOf(shoot) };
    }
    const { legacyStatusLabels } = settings;
    const { writesEnd: deadline, signal } = bounds;
    return writeConditions(
      { ...this.#deps, garden, legacyStatusLabels },
      { stored: stored.value, updatesOf, deadline, signal },
    );
  }
}

/** Returns why the garden must not be written to, or undefined if it may. */
const refusalOf = (stored: StoredShoot, { shoot, seedName }: CheckTarget): WriteResult | undefined => {
  if (stored === undefined) return { kind: 'no-garden' };
  if (!stored.ok) return failureOf(stored.error);
  const current = stored.value.shoot;
  // A new Shoot has no UID in its status yet.
  if (current.uid !== '' && shoot.uid !== '' && current.uid !== shoot.uid) return { kind: 'gone' };
  const isElsewhere = seedName !== '' && current.seedName !== '' && current.seedName !== seedName;
  return isElsewhere ? { kind: 'elsewhere', seed: current.seedName } : undefined;
};
