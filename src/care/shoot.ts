import { type CareShoot, bareShoot } from '../gardener/care-shoots.ts';
import type { Cluster } from '../gardener/cluster.ts';
import { type Condition, findCondition, mergeConditions } from '../gardener/condition.ts';
import { shootConditionTypes } from '../gardener/shoot-conditions.ts';
import { type StatusLabel, shootStatus } from '../gardener/shoot-status.ts';
import { errorText } from '../kubernetes/api/errors.ts';
import type { NamespacedName } from '../kubernetes/api/resource-ref.ts';
import { type GardenWriter, type WriteResult, failureOf, gone, readShoot, writeShoot } from './act.ts';
import { firstPatienceMs, longerPatienceMs } from './condition-writers.ts';
import type { CareSettings } from './config.ts';
import { type Findings, allUnknown, conditionsFrom, judge, typesOf } from './judge/judge.ts';
import { type CareWatches, observeSeed } from './observe/seed.ts';
import { type CheckLimits, type ObserveDeps, observeShoot } from './observe/shoot.ts';

export interface ShootCheckDeps extends ObserveDeps {
  readonly settings: CareSettings;
  readonly watches: Pick<CareWatches, 'sources' | 'kubeconfigs'>;
  /** If absent, care writes nothing. */
  readonly writer?: GardenWriter | undefined;
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
  /** Others must not write conditions of ours for this long, in milliseconds, before care does. */
  readonly patienceMs?: number;
  /** True if the conditions continue those of the garden. Others continue those in the Cluster, which may be days old. */
  readonly isFromGarden?: boolean;
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

/** The Shoot in the garden; undefined without a garden. */
type StoredShoot = Awaited<ReturnType<typeof readShoot>> | undefined;

/** Upper limit of the time that a check gets from its sync period, in milliseconds. */
const maxPeriodMs = 180_000;
/**
 * A shoot is slow if its observation takes longer than this, in milliseconds, or than a quarter of the time for reads. The timeout of a broken tunnel is
 * shorter: if all tunnels break together, no shoot may count as slow.
 */
const slowMs = 6_000;

/** Returns why the garden must not be written to, or undefined if it may. `seedName`: the seed in the Cluster. */
const refusalOf = (stored: StoredShoot, shoot: CareShoot, seedName = ''): WriteResult | undefined => {
  if (stored === undefined) return { kind: 'no-garden' };
  if (!stored.ok) return failureOf(stored.error);
  const current = stored.value.shoot;
  // A new Shoot has no UID in its status yet.
  if (current.uid !== '' && shoot.uid !== '' && current.uid !== shoot.uid) return gone;
  const isElsewhere = seedName !== '' && current.seedName !== '' && current.seedName !== seedName;
  return isElsewhere
    ? { kind: 'elsewhere', trouble: `not written: the Shoot is on seed ${current.seedName} now` }
    : undefined;
};

/** Returns the Shoot with the conditions from which new ones are computed: the stored ones, or newer ones of ours that could not be written. */
const withNewerConditions = (last: ShootResult | undefined, stored: StoredShoot, shoot: CareShoot): CareShoot => {
  if (last === undefined) return shoot;
  const isUnwritten = last.writing.kind === 'failed' || last.writing.kind === 'dry-run';
  if (stored?.ok === true && !(isUnwritten && last.isFromGarden === true)) return shoot;
  return { ...shoot, conditions: mergeConditions(shoot.conditions, last.conditions, shootConditionTypes) };
};

/** True if somebody has overwritten conditions with which care was content. */
const isOverwritten = (last: ShootResult | undefined, { kind }: WriteResult): boolean =>
  kind === 'left-alone' && (last?.writing.kind === 'written' || last?.writing.kind === 'unchanged');

/** Observes and judges. An exception makes all conditions Unknown; rejects only with `signal.reason`. */
const observeAndJudge = async (
  deps: ShootCheckDeps,
  namespace: string,
  { shoot, ...limits }: CheckLimits & { readonly shoot: CareShoot },
): Promise<{ readonly findings: Findings; readonly bug?: unknown }> => {
  const { clock, settings, watches } = deps;
  try {
    const seed = observeSeed(watches.sources, namespace, shoot);
    const secretKey = `${namespace}/${settings.kubeConfigSecretName}`;
    const kubeconfig = watches.kubeconfigs.get(secretKey);
    const view = await observeShoot({ ...deps, ...limits, shoot, seed, kubeconfig, secretKey });
    return { findings: judge({ seed, view, shoot, settings, now: clock.now() }) };
  } catch (bug) {
    limits.signal.throwIfAborted();
    return { findings: allUnknown(typesOf(shoot), `unexpected error: ${errorText(bug)}`), bug };
  }
};

/** Makes the conditions Unknown that the shoot has: without its spec, the others cannot be known to be wanted. */
const unreadable = (problem: string, { conditions }: CareShoot): Findings => {
  const types = shootConditionTypes.filter((type) => findCondition(conditions, type) !== undefined);
  return allUnknown(types, `the Cluster cannot be read: ${problem}`);
};

/** Checks one shoot: reads, judges, and writes differences. Rejects only with `signal.reason`, or for a bug of the write. */
export const checkShoot = async (
  deps: ShootCheckDeps,
  { name: namespace, seedName, shoot: decoded, shootName }: Cluster<CareShoot>,
  { last, signal }: { readonly last: ShootResult | undefined; readonly signal: AbortSignal },
): Promise<ShootResult> => {
  const { clock, writer, settings } = deps;
  const { patienceMs = firstPatienceMs } = last ?? {};
  const problem = decoded.ok ? undefined : decoded.error.message;
  const name = shootName ?? last?.shoot;
  const known = decoded.ok ? decoded.value : name && bareShoot(name);
  if (known === undefined) {
    const nothing = {
      conditions: [],
      before: [],
      writing: { kind: 'unchanged' },
      durationMs: 0,
      isSlow: false,
    } as const;
    return { namespace, status: 'unknown', problem, ...nothing };
  }
  const startedAt = clock.monotonic();
  const periodMs = Math.min(settings.syncPeriod, maxPeriodMs);
  const timeoutMs = periodMs / 2;
  const stored = writer && (await readShoot(writer, known, { signal, longestMs: timeoutMs }));
  const shoot = stored?.ok === true ? stored.value.shoot : known;
  const before = withNewerConditions(last, stored, shoot);
  const observedAt = clock.monotonic();
  const limits = { timeoutMs, readsEnd: startedAt + timeoutMs, signal };
  const { findings, ...bug } =
    problem === undefined
      ? await observeAndJudge(deps, namespace, { shoot, ...limits })
      : { findings: unreadable(problem, before) };
  const isSlow = clock.monotonic() - observedAt > Math.min(slowMs, timeoutMs / 4);
  const conditionsOf = (from: CareShoot): readonly Condition[] =>
    conditionsFrom(findings, { shoot: withNewerConditions(last, stored, from), settings }, clock.now());
  const refusal = refusalOf(stored, known, seedName);
  const { writing, conditions } =
    writer === undefined || stored?.ok !== true || refusal !== undefined
      ? { writing: refusal ?? ({ kind: 'no-garden' } as const), conditions: conditionsOf(shoot) }
      : await writeShoot(writer, {
          ...{ stored: stored.value, conditionsOf, patienceMs, signal },
          deadline: startedAt + periodMs,
        });
  const isKnown = problem === undefined || stored?.ok === true;
  const merged = mergeConditions(shoot.conditions, conditions, shootConditionTypes);
  return {
    namespace,
    shoot: { namespace: shoot.namespace, name: shoot.name },
    ...{ conditions, before: before.conditions, writing, problem, isSlow },
    patienceMs: isOverwritten(last, writing) ? longerPatienceMs(patienceMs) : patienceMs,
    isFromGarden: stored?.ok === true || last?.isFromGarden,
    status: isKnown ? shootStatus(merged, shoot) : 'unknown',
    durationMs: clock.monotonic() - startedAt,
    ...bug,
  };
};
