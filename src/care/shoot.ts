import type { CareCluster, CareShoot } from '../gardener/care-shoots.ts';
import { type Condition, mergeConditions } from '../gardener/condition.ts';
import { shootConditionTypes } from '../gardener/shoot-conditions.ts';
import { type StatusLabel, shootStatus } from '../gardener/shoot-status.ts';
import { errorText } from '../kubernetes/api/errors.ts';
import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { type Garden, type WriteResult, type Written, failureOf, readShoot, writeShoot } from './act.ts';
import type { CareSettings } from './config.ts';
import { type Findings, allUnknown, conditionsFrom, judge, typesOf } from './judge/judge.ts';
import { type CareWatches, observeSeed } from './observe/seed.ts';
import { type CheckLimits, type ObserveDeps, observeShoot } from './observe/shoot.ts';

export interface ShootCheckDeps extends ObserveDeps {
  readonly settings: CareSettings;
  readonly watches: Pick<CareWatches, 'sources' | 'kubeconfigs'>;
  /** If absent, care writes nothing. */
  readonly garden?: Garden | undefined;
}

/** Result of one check of one shoot. */
export interface ShootResult {
  /** Namespace of the control plane. */
  readonly namespace: string;
  /** Namespace and name of the Shoot in the garden. Absent if the Cluster has never named it. */
  readonly shoot?: NamespacedName;
  /** Conditions of the types that care owns, in the order in which they are written. With a `problem`, only types that existed before. */
  readonly conditions: readonly Condition[];
  /** Conditions from which they were computed. */
  readonly before: readonly Condition[];
  /** Value of the Shoot's status label. */
  readonly status: StatusLabel;
  readonly writing: WriteResult;
  /** The reason why there was no check. */
  readonly problem?: string;
  readonly durationMs: number;
  /** True if the check waited so long for the shoot's API server that the next one must not delay the checks of other shoots. */
  readonly isSlow: boolean;
  /** Unexpected exception during the check, which made all conditions Unknown. */
  readonly bug?: unknown;
}

/** The results of the last checks, by control-plane namespace. The next checks continue from them, under any configuration. */
export type LastResults = Map<string, ShootResult>;

/** One check of one shoot, from its Cluster. Points in time are monotonic milliseconds. */
interface Check extends CheckLimits {
  readonly namespace: string;
  /** Name of the seed in the Cluster; empty if unknown. */
  readonly seedName: string;
  readonly shoot: CareShoot;
  /** The reason why the Shoot cannot be decoded. Then only its name is known. */
  readonly problem?: string;
  readonly last?: ShootResult;
  readonly startedAt: number;
  /** Time after which a conflict is not retried but left to the next check. */
  readonly writesEnd: number;
}

/** The Shoot in the garden; undefined without a garden. */
type StoredShoot = Awaited<ReturnType<typeof readShoot>> | undefined;

/** Upper limit of the time that a check gets from its sync period, in milliseconds. */
const maxPeriodMs = 180_000;
/**
 * A shoot is slow if its observation takes longer than this, in milliseconds, or than a quarter of the time for reads. The timeout of a broken tunnel is
 * shorter: if all tunnels break together, no shoot may count as slow.
 */
const slowMs = 6_000;

/** Returns a Shoot with a name and nothing else. */
const nameOnly = (name: NamespacedName): CareShoot => ({
  uid: '',
  seedName: '',
  labels: {},
  hibernated: false,
  purpose: '',
  pools: [],
  vpaEnabled: false,
  ...name,
  hasLastErrors: false,
  conditions: [],
});

/** Returns why the garden must not be written to, or undefined if it may. */
const refusalOf = (stored: StoredShoot, { shoot, seedName }: Check): WriteResult | undefined => {
  if (stored === undefined) return { kind: 'no-garden' };
  if (!stored.ok) return failureOf(stored.error);
  const current = stored.value.shoot;
  // A new Shoot has no UID in its status yet.
  if (current.uid !== '' && shoot.uid !== '' && current.uid !== shoot.uid) return { kind: 'gone' };
  const isElsewhere = seedName !== '' && current.seedName !== '' && current.seedName !== seedName;
  return isElsewhere ? { kind: 'elsewhere', seed: current.seedName } : undefined;
};

/** Returns the Shoot with the conditions from which new ones are computed: the stored ones, or newer ones that could not be written. */
const withNewerConditions = ({ last }: Check, stored: StoredShoot, shoot: CareShoot): CareShoot => {
  const isStored = last?.writing.kind !== 'failed' && last?.writing.kind !== 'dry-run';
  if (last === undefined || (stored?.ok === true && isStored)) return shoot;
  return { ...shoot, conditions: mergeConditions(shoot.conditions, last.conditions, shootConditionTypes) };
};

/** Observes and judges. An exception makes all conditions Unknown; rejects only with `signal.reason`. */
const observeAndJudge = async (
  deps: ShootCheckDeps,
  run: Check,
  shoot: CareShoot,
): Promise<{ readonly findings: Findings; readonly bug?: unknown }> => {
  const { namespace, problem, last, signal } = run;
  if (problem !== undefined) {
    const known = shoot.conditions.length > 0 ? shoot.conditions : (last?.conditions ?? []);
    const types = shootConditionTypes.filter((type) => known.some((condition) => condition.type === type));
    return { findings: allUnknown(types, `the Cluster cannot be read: ${problem}`) };
  }
  const { clock, settings, watches } = deps;
  try {
    const seed = observeSeed(watches.sources, namespace, shoot);
    const secretKey = `${namespace}/${settings.kubeConfigSecretName}`;
    const kubeconfig = watches.kubeconfigs.get(secretKey);
    const view = await observeShoot(deps, { ...run, shoot, seed, kubeconfig, secretKey });
    return { findings: judge({ seed, view, shoot, settings, now: clock.now() }) };
  } catch (bug) {
    signal.throwIfAborted();
    return { findings: allUnknown(typesOf(shoot), `unexpected error: ${errorText(bug)}`), bug };
  }
};

const write = async (
  { clock, garden, settings }: ShootCheckDeps,
  run: Check,
  { stored, shoot, findings }: { readonly stored: StoredShoot; readonly shoot: CareShoot; readonly findings: Findings },
): Promise<Written> => {
  const conditionsOf = (from: CareShoot): readonly Condition[] =>
    conditionsFrom(findings, { shoot: withNewerConditions(run, stored, from), settings }, clock.now());
  const refusal = refusalOf(stored, run);
  if (garden === undefined || stored?.ok !== true || refusal !== undefined) {
    return { writing: refusal ?? { kind: 'no-garden' }, conditions: conditionsOf(shoot) };
  }
  const { writesEnd: deadline, signal } = run;
  return writeShoot(garden, { stored: stored.value, conditionsOf, deadline, signal });
};

const check = async (deps: ShootCheckDeps, run: Check): Promise<ShootResult> => {
  const { clock, garden } = deps;
  const { namespace, problem, startedAt, timeoutMs, signal } = run;
  const stored = garden && (await readShoot(garden, run.shoot, { signal, longestMs: timeoutMs }));
  const shoot = stored?.ok === true ? stored.value.shoot : run.shoot;
  const before = withNewerConditions(run, stored, shoot).conditions;
  const observedAt = clock.monotonic();
  const { findings, ...bug } = await observeAndJudge(deps, run, shoot);
  const isSlow = clock.monotonic() - observedAt > Math.min(slowMs, timeoutMs / 4);
  const { writing, conditions } = await write(deps, run, { stored, shoot, findings });
  const isKnown = problem === undefined || stored?.ok === true;
  const merged = mergeConditions(shoot.conditions, conditions, shootConditionTypes);
  return {
    namespace,
    shoot: { namespace: shoot.namespace, name: shoot.name },
    ...{ conditions, before, writing, problem, isSlow },
    status: isKnown ? shootStatus(merged, shoot) : 'unknown',
    durationMs: clock.monotonic() - startedAt,
    ...bug,
  };
};

/** Checks one shoot: reads, judges, and writes differences. Rejects only with `signal.reason`, or for a bug of the write. */
export const checkShoot = async (
  deps: ShootCheckDeps,
  { name: namespace, seedName, shoot: decoded, shootName }: CareCluster,
  { last, signal }: { readonly last: ShootResult | undefined; readonly signal: AbortSignal },
): Promise<ShootResult> => {
  const problem = decoded.ok ? undefined : decoded.error.message;
  const name = shootName ?? last?.shoot;
  const shoot = decoded.ok ? decoded.value : name && nameOnly(name);
  if (shoot === undefined) {
    const nothing = {
      conditions: [],
      before: [],
      writing: { kind: 'unchanged' },
      durationMs: 0,
      isSlow: false,
    } as const;
    return { namespace, status: 'unknown', problem, ...nothing };
  }
  const startedAt = deps.clock.monotonic();
  const periodMs = Math.min(deps.settings.syncPeriod, maxPeriodMs);
  const timeoutMs = periodMs / 2;
  const limits = { startedAt, timeoutMs, readsEnd: startedAt + timeoutMs, writesEnd: startedAt + periodMs, signal };
  return check(deps, { namespace, seedName, shoot, problem, last, ...limits });
};
