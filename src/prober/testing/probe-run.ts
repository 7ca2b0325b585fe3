import { chooseCandidates } from '../../gardener/candidate-nodes.ts';
import type { Machine } from '../../gardener/machine.ts';
import type { NodeView } from '../../gardener/node.ts';
import type { Result } from '../../kubernetes/api/errors.ts';
import type { Lease } from '../../kubernetes/api/lease.ts';
import { decideByCandidates, decideByLeases, judgeLeases } from '../judge/decide.ts';
import { afterFailedRead } from '../judge/retry.ts';
import type { LeaseList } from '../judge/leases.ts';
import type {
  Candidates,
  Decision,
  DependentsView,
  ProbeInput,
  ProbeSettings,
  ProbeMemory,
  ReadError,
} from '../judge/judgement.ts';

export const defaultSettings: ProbeSettings = {
  probeIntervalMs: 10_000,
  backoffJitterFactor: 0.2,
  expiryAgeMs: 30_000,
  graceMs: 40_000,
  landingTimeoutMs: 60_000,
  nodeLeaseFailureFraction: 0.6,
  poolConditions: new Map(),
};

/** Settings with which only single leases count, not the silence of all. */
export const bySingleLeases: ProbeSettings = { ...defaultSettings, allSilentAfterMs: 0 };

/** Dependents that make every run eager. */
export const disturbed: DependentsView = { nothingToRestore: false, held: 0, mayBeHeld: false };
export const held: DependentsView = { nothingToRestore: false, held: 3, mayBeHeld: true };
export const undisturbed: DependentsView = { nothingToRestore: true, held: 0, mayBeHeld: false };

/** Our wall clock at monotonic 0. */
export const origin = Date.parse('2026-11-21T06:00:00Z');

/**
 * Leases `node-1`, `node-2`, ... from the time of each renewal, in monotonic milliseconds; null: never renewed. The API server has stamped them, but without
 * `stamped`. `skewMs`: how far the nodes' clocks are ahead of the API server's.
 */
export const leasesOf = (
  renewedAt: readonly (number | null)[],
  { skewMs = 0, stamped = true }: { readonly skewMs?: number; readonly stamped?: boolean } = {},
): readonly Lease[] =>
  renewedAt.map((at, index) => ({
    name: `node-${String(index + 1)}`,
    renewTime: at === null ? undefined : (origin + at + skewMs) * 1_000,
    stampedAt: at === null || !stamped ? undefined : (origin + at) * 1_000,
  }));

export const nodeOf = (name: string): NodeView => ({
  name,
  managedByMcm: true,
  trueConditions: new Set(),
  inPlaceUpdate: false,
  leaving: false,
});

/** All nodes are candidates. */
export const candidatesOf = (names: readonly string[], at: number): Candidates => ({
  ...{ at, names: new Set(names) },
  ...{ nodes: names.length, leftOut: new Map() },
});

/** Names of a run's reads. */
export type ReadName = 'version' | 'leases' | 'nodes' | 'machines';

export interface ProbeRun {
  /** Time at which all responses had arrived. */
  readonly at: number;
  readonly startedAt?: number;
  readonly leases: readonly Lease[];
  /** Default: the list was sent, and had arrived, at `at`, by a right clock. */
  readonly list?: Partial<LeaseList>;
  /** Default: one node and one machine per lease. */
  readonly nodes?: readonly NodeView[];
  readonly machines?: readonly Machine[];
  readonly dependents?: DependentsView;
  readonly failures?: Readonly<Partial<Record<ReadName, ReadError>>>;
  readonly settings?: ProbeSettings;
  readonly random?: number;
}

export interface ProbeRunResult {
  readonly decision: Decision;
  /** True if nodes and machines were listed. */
  readonly isEager: boolean;
  /** True if the machines were listed without waiting for the ordinary rate limit. */
  readonly isUrgent: boolean;
}

/** Runs the judgements of one probe run, in their order. */
export const runProbe = (memory: ProbeMemory, run: ProbeRun): ProbeRunResult => {
  const { at, startedAt = at, leases, failures = {} } = run;
  const input: ProbeInput = {
    settings: run.settings ?? defaultSettings,
    memory,
    dependents: run.dependents ?? disturbed,
    now: at,
    random: run.random ?? 0,
  };
  const without = { isEager: false, isUrgent: false };
  const fail = (failure: 'api_server_unreachable' | 'lease_list_failed', error: ReadError): ProbeRunResult => ({
    decision: afterFailedRead({ startedAt, failure, error }, input),
    ...without,
  });
  if (failures.version !== undefined) return fail('api_server_unreachable', failures.version);
  if (failures.leases !== undefined) return fail('lease_list_failed', failures.leases);
  const list = { items: leases, sentAt: at, receivedAt: at, serverNow: origin + at, ...run.list };
  const judged = judgeLeases(list, input);
  const entered = { ...input, memory: judged.memory };
  if (judged.need === 'nothing') return { decision: decideByLeases(entered), ...without };
  const lists = {
    chooseCandidates,
    noSuchNode: 'there is no such node',
    nodes: readOr(failures.nodes, run.nodes ?? leases.map(({ name }) => nodeOf(name))),
    machines: readOr(failures.machines, run.machines ?? leases.map(({ name }) => machineOf(name))),
  };
  return { decision: decideByCandidates(lists, entered), isEager: true, isUrgent: judged.isUrgent };
};

const readOr = <T>(error: ReadError | undefined, value: T): Result<T, ReadError> =>
  error === undefined ? { ok: true, value } : { ok: false, error };

const machineOf = (name: string): Machine => ({ node: name, phase: 'Running', deleting: false });

/** Runs probes one after the other, each with the memory of the previous one. */
export const runProbes = (memory: ProbeMemory, runs: readonly ProbeRun[]): readonly ProbeRunResult[] => {
  let current = memory;
  return runs.map((run) => {
    const result = runProbe(current, run);
    current = result.decision.memory;
    return result;
  });
};
