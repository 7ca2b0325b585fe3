import type { LeaseObservation } from '../judge/lease-history.ts';
import { chooseCandidates } from '../../gardener/candidate-nodes.ts';
import type { Machine } from '../../gardener/machine.ts';
import type { NodeView } from '../../gardener/node.ts';
import type { Result } from '../../kubernetes/api/errors.ts';
import type { Lease } from '../../kubernetes/api/lease.ts';
import { decideByCandidates, decideByLeases, judgeLeases } from '../judge/decide.ts';
import { afterFailedShootRead } from '../judge/failure.ts';
import type { Decision } from '../judge/decision.ts';
import type {
  ApiServerView,
  DependentsView,
  ExternalProbeView,
  ProbeInput,
  ProbeSettings,
} from '../judge/probe-input.ts';
import type { ProbeMemory } from '../judge/probe-memory.ts';
import type { ReadError } from '../judge/verdict.ts';

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
export const disturbed: DependentsView = { nothingToRestore: false, anyHeld: false, mayBeHeld: false };
export const held: DependentsView = { nothingToRestore: false, anyHeld: true, mayBeHeld: true };
export const undisturbed: DependentsView = { nothingToRestore: true, anyHeld: false, mayBeHeld: false };

/** Our wall clock at monotonic 0. */
export const origin = Date.parse('2026-11-21T06:00:00Z');

/** Leases `node-1`, `node-2`, ... from the time of each renewal, by a right clock, in monotonic milliseconds; null: never renewed. */
export const leasesOf = (renewedAt: readonly (number | null)[]): readonly Lease[] =>
  renewedAt.map((at, index) => ({
    name: `node-${String(index + 1)}`,
    ...(at === null ? {} : { renewTime: (origin + at) * 1_000 }),
  }));

export const nodeOf = (name: string): NodeView => ({
  name,
  managedByMcm: true,
  trueConditions: new Set(),
  inPlaceUpdate: false,
});

/** Names of a run's reads. */
export type ReadName = 'version' | 'leases' | 'nodes' | 'machines';

export interface ProbeRun {
  /** Time at which all responses had arrived. */
  readonly at: number;
  readonly startedAt?: number;
  readonly leases: readonly Lease[];
  readonly observation?: Partial<LeaseObservation>;
  /** Default: one node and one machine per lease. */
  readonly nodes?: readonly NodeView[];
  readonly machines?: readonly Machine[];
  readonly dependents?: DependentsView;
  readonly failures?: Readonly<Partial<Record<ReadName, ReadError>>>;
  readonly settings?: ProbeSettings;
  readonly random?: number;
  readonly externalProbe?: ExternalProbeView | undefined;
  readonly apiServer?: ApiServerView | undefined;
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
  const { at, startedAt = at, leases, failures = {}, externalProbe, apiServer } = run;
  const input: ProbeInput = {
    settings: run.settings ?? defaultSettings,
    memory,
    dependents: run.dependents ?? disturbed,
    now: at,
    random: run.random ?? 0,
    ...(externalProbe === undefined ? {} : { externalProbe }),
    ...(apiServer === undefined ? {} : { apiServer }),
  };
  const without = { isEager: false, isUrgent: false };
  const fail = (failure: 'api_server_unreachable' | 'lease_list_failed', error: ReadError): ProbeRunResult => ({
    decision: afterFailedShootRead({ startedAt, failure, error }, input),
    ...without,
  });
  if (failures.version !== undefined) return fail('api_server_unreachable', failures.version);
  if (failures.leases !== undefined) return fail('lease_list_failed', failures.leases);
  const observation = { startedAt: at, endedAt: at, wall: origin + at, ...run.observation };
  const judged = judgeLeases({ items: leases, observation }, input);
  if (judged.leasesSuffice) return { decision: decideByLeases(judged, input), ...without };
  const lists = {
    chooseCandidates,
    nodes: readOr(failures.nodes, run.nodes ?? leases.map(({ name }) => nodeOf(name))),
    machines: readOr(failures.machines, run.machines ?? leases.map(({ name }) => machineOf(name))),
  };
  return { decision: decideByCandidates(judged, lists, input), isEager: true, isUrgent: judged.isUrgent };
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
