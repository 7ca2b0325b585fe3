import type { Lease, Look, MachineView, NodeView } from '../../../domain/index.ts';
import { decide } from '../decide.ts';
import type {
  ApiServerView,
  Circumstances,
  Decision,
  DependentsView,
  Need,
  Observation,
  OutsideView,
  ProbeMemory,
  ProbeSettings,
  ReadError,
} from '../verdict.ts';

export const defaultSettings: ProbeSettings = {
  probeIntervalMs: 10_000,
  backoffJitterFactor: 0.2,
  limitMs: 30_000,
  nodeLeaseFailureFraction: 0.6,
  poolConditions: new Map(),
};

/** Dependents that make every run eager. */
export const disturbed: DependentsView = { undisturbed: false, anyHeld: false };
export const held: DependentsView = { undisturbed: false, anyHeld: true };
export const undisturbed: DependentsView = { undisturbed: true, anyHeld: false };

/** Our wall clock at monotonic 0. */
export const origin = Date.parse('2026-11-21T06:00:00Z');

/** Leases `node-1`, `node-2`, ...: when each was renewed, by a right clock (monotonic milliseconds); null: never. */
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

export interface ProbeRun {
  /** When everything was in. */
  readonly at: number;
  readonly startedAt?: number;
  readonly endsBy?: number;
  readonly leases: readonly Lease[];
  readonly look?: Partial<Look>;
  /** Default: one of each per lease. */
  readonly nodes?: readonly NodeView[];
  readonly machines?: readonly MachineView[];
  readonly dependents?: DependentsView;
  readonly failures?: Readonly<Partial<Record<Need, ReadError>>>;
  readonly settings?: ProbeSettings;
  readonly random?: number;
  readonly outside?: OutsideView | undefined;
  readonly apiServer?: ApiServerView | undefined;
}

export interface ProbeRunResult {
  readonly decision: Extract<Decision, { kind: 'verdict' }>;
  /** What was asked for, step by step. */
  readonly asked: readonly (readonly Need[])[];
}

/** A run as `observe` does it: everything that `decide` asks for is fetched, until it decides. */
export const runProbe = (memory: ProbeMemory, run: ProbeRun): ProbeRunResult => {
  const { at, dependents = disturbed, settings = defaultSettings, random = 0, outside } = run;
  const circumstances: Circumstances = {
    settings,
    memory,
    now: at,
    random,
    ...(outside === undefined ? {} : { outside }),
    ...(run.apiServer === undefined ? {} : { apiServer: run.apiServer }),
  };
  const asked: (readonly Need[])[] = [];
  let observation: Observation = {
    startedAt: run.startedAt ?? at,
    dependents,
    ...(run.endsBy === undefined ? {} : { endsBy: run.endsBy }),
  };
  for (;;) {
    const decision = decide(observation, circumstances);
    if (decision.kind === 'verdict') return { decision, asked };
    if (asked.length === 4) throw new Error('asks for ever');
    asked.push(decision.needs);
    observation = Object.assign({}, observation, ...decision.needs.map((need) => fetchPart(need, run))) as Observation;
  }
};

const fetchPart = (need: Need, run: ProbeRun): Partial<Observation> => {
  const error = run.failures?.[need];
  if (error !== undefined) return { [need]: { ok: false, error } };
  const { at, leases, nodes, machines } = run;
  switch (need) {
    case 'apiServer':
      return { apiServer: { ok: true, value: undefined } };
    case 'leases': {
      const look = { startedAt: at, endedAt: at, wall: origin + at, ...run.look };
      return { leases: { ok: true, value: { items: leases, look } } };
    }
    case 'nodes':
      return { nodes: { ok: true, value: nodes ?? leases.map(({ name }) => nodeOf(name)) } };
    case 'machines': {
      const all = leases.map(({ name }): MachineView => ({ nodeName: name, phase: 'Running' }));
      return { machines: { ok: true, value: machines ?? all } };
    }
  }
};

/** Runs one after the other, each with the memory of the one before. */
export const runProbes = (memory: ProbeMemory, runs: readonly ProbeRun[]): readonly ProbeRunResult[] => {
  let current = memory;
  return runs.map((run) => {
    const result = runProbe(current, run);
    current = result.decision.memory;
    return result;
  });
};
