import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Machine } from '../../gardener/machine.ts';
import type { NodeView } from '../../gardener/node.ts';
import { ApiError } from '../../kubernetes/api/errors.ts';
import { emptyProbeMemory } from './judgement.ts';
import {
  type ProbeRun,
  type ProbeRunResult,
  type ReadName,
  defaultSettings,
  leasesOf,
  nodeOf,
  runProbe,
  runProbes,
  undisturbed,
} from '../testing/probe-run.ts';

const seed = 20_261_121;
const now = 200_000;

interface NodeCase {
  /** Age now of the lease that each observation shows, the last of them now; null: a lease without renewTime. */
  readonly ages: readonly (number | null)[];
  readonly role: 'candidate' | 'no-node' | 'no-machine' | 'unhealthy' | 'terminating';
  /** Time by which the node's clock is ahead. */
  readonly clockShiftMs: number;
}

interface ProbeCase {
  readonly nodes: readonly NodeCase[];
  /** Times of the earlier observations, in milliseconds before now. If empty, everything is seen for the first time. */
  readonly earlier: readonly number[];
  readonly fraction: number;
  readonly failure: ReadName | undefined;
  readonly isUndisturbed: boolean;
  readonly isTriggered: boolean;
  /** True if the API server stamps the renewals. */
  readonly isStamped: boolean;
  readonly random: number;
}

const age = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 12_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 12_000, max: 29_999 }) },
  { weight: 3, arbitrary: fc.integer({ min: 30_000, max: 120_000 }) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const oldest = { min: 70_000, max: 120_000 };
const old = fc.integer(oldest);
const anyRole: fc.Arbitrary<NodeCase['role']> = fc.oneof(
  { weight: 6, arbitrary: fc.constant('candidate') },
  { weight: 3, arbitrary: fc.constantFrom('no-node', 'no-machine', 'unhealthy', 'terminating') },
);

const clockShiftMs = fc.oneof(
  { weight: 9, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(-600_000, 5_000, 600_000) },
);

const nodeCase = (ages: typeof age | typeof old): fc.Arbitrary<NodeCase> =>
  fc.record({ ages: fc.array(ages, { minLength: 3, maxLength: 3 }), role: anyRole, clockShiftMs });

/** A node that has been silent for a time in this range, in milliseconds. */
const quietCase = (range: { readonly min: number; readonly max: number }): fc.Arbitrary<NodeCase> =>
  fc
    .record({ since: fc.integer(range), role: anyRole, clockShiftMs })
    .map(({ since, ...rest }) => ({ ages: [since, since, since], ...rest }));

const caseOf = (
  nodes: fc.Arbitrary<readonly NodeCase[]>,
  rest: Partial<{ [K in keyof ProbeCase]: fc.Arbitrary<ProbeCase[K]> }> = {},
): fc.Arbitrary<ProbeCase> =>
  fc.record({
    nodes,
    earlier: fc.constantFrom([], [2_000], [11_000], [22_000, 11_000], [60_000, 10_000]),
    fraction: fc.constantFrom(0.01, 0.5, 0.6, 1),
    failure: fc.constant(undefined),
    isUndisturbed: fc.boolean(),
    isTriggered: fc.boolean(),
    isStamped: fc.boolean(),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    ...rest,
  });

const probeCase: fc.Arbitrary<ProbeCase> = fc.oneof(
  caseOf(fc.array(nodeCase(age), { maxLength: 7 })),
  caseOf(fc.array(nodeCase(fc.integer({ min: 0, max: 12_000 })), { maxLength: 7 })),
  caseOf(fc.array(quietCase(oldest), { minLength: 3, maxLength: 7 }), {
    earlier: fc.constantFrom([11_000], [22_000, 11_000]),
  }),
  caseOf(fc.array(nodeCase(old), { minLength: 3, maxLength: 7 }), { earlier: fc.constant([]) }),
  caseOf(fc.array(nodeCase(age), { minLength: 1, maxLength: 1 })),
  // About as long as the trigger needs.
  caseOf(fc.array(quietCase({ min: 14_500, max: 22_000 }), { minLength: 2, maxLength: 5 }), {
    earlier: fc.constantFrom([30_000, 11_000], [22_000, 9_000], [9_000]),
    isTriggered: fc.constant(true),
  }),
  // All of them will soon be silent for so long that a common cause is certain.
  caseOf(fc.array(quietCase({ min: 9_500, max: 20_500 }), { minLength: 3, maxLength: 5 }), {
    earlier: fc.constantFrom([30_000, 9_000], [9_000]),
  }),
  caseOf(fc.array(nodeCase(age), { maxLength: 7 }), {
    failure: fc.constantFrom('version', 'leases', 'nodes', 'machines'),
  }),
);

const machineOf = (name: string, { role }: NodeCase): readonly Machine[] =>
  role === 'no-machine'
    ? []
    : [{ node: name, phase: role === 'terminating' ? 'Terminating' : 'Running', deleting: false }];
const viewOf = (name: string, { role }: NodeCase): readonly NodeView[] => {
  if (role === 'no-node') return [];
  return [{ ...nodeOf(name), trueConditions: new Set(role === 'unhealthy' ? ['DiskPressure'] : []) }];
};

/** Runs of a case, each with the renewals up to its time. */
const runsOf = (probe: ProbeCase, dependents: ProbeRun['dependents'] & object): readonly ProbeRun[] => {
  const observations = [...probe.earlier, 0];
  return observations.map((before, index) => {
    const at = now - before;
    const isLast = index === observations.length - 1;
    const renewedAt = probe.nodes.map(({ ages }) => {
      const ageThen = ages[ages.length - observations.length + index] ?? null;
      // No renewal is later than its observation, and equal ages mean the same renewal.
      return ageThen === null ? null : Math.min(now - ageThen, at);
    });
    const leases = renewedAt.flatMap((_, nth) =>
      leasesOf(renewedAt, { skewMs: probe.nodes[nth]?.clockShiftMs, stamped: probe.isStamped }).slice(nth, nth + 1),
    );
    return {
      at,
      leases,
      dependents,
      nodes: probe.nodes.flatMap((node, nth) => viewOf(`node-${String(nth + 1)}`, node)),
      machines: probe.nodes.flatMap((node, nth) => machineOf(`node-${String(nth + 1)}`, node)),
      settings: { ...defaultSettings, nodeLeaseFailureFraction: probe.fraction, isTriggered: probe.isTriggered },
      random: probe.random,
      ...(isLast && probe.failure !== undefined
        ? { failures: { [probe.failure]: new ApiError({ code: 'ServerError', message: 'x' }) } }
        : {}),
    };
  });
};

const eagerView = { nothingToRestore: false, held: 0, mayBeHeld: false };

const runEach = (probe: ProbeCase): { readonly asGiven: ProbeRunResult; readonly eager: ProbeRunResult } => {
  const runs = runsOf(probe, eagerView);
  const memory = runProbes(emptyProbeMemory, runs.slice(0, -1)).at(-1)?.decision.memory ?? emptyProbeMemory;
  const last = runs.at(-1)!;
  const view = probe.isUndisturbed ? undisturbed : eagerView;
  return { asGiven: runProbe(memory, { ...last, dependents: view }), eager: runProbe(memory, last) };
};

/** Decided by the leases alone. */
const isLazy = ({ decision: { verdict, counts } }: ProbeRunResult): boolean =>
  verdict.kind !== 'failed' && counts === undefined;

it('a lazy run decides like an eager one, and schedules the next run no later', () => {
  /** How many cases were of each kind. */
  const seen = new Map<string, number>();
  const count = (kind: string): unknown => seen.set(kind, (seen.get(kind) ?? 0) + 1);
  fc.assert(
    fc.property(probeCase, (probe) => {
      const { asGiven, eager } = runEach(probe);
      const { verdict } = eager.decision;
      count(verdict.kind);
      if (verdict.kind === 'unhealthy' && verdict.graceEndsAt - verdict.crossedAt > 10_000) count('early');
      if (!isLazy(asGiven)) {
        // A run that needs nodes and machines decides like an eager one in every respect.
        expect(asGiven).toEqual(eager);
        return;
      }
      count('lazy');
      expect(asGiven.decision.verdict).toEqual({ kind: 'healthy' });
      expect(['healthy', 'skipped', 'failed']).toContain(verdict.kind);
      // A failed eager run is repeated sooner, which a lazy run need not be.
      if (verdict.kind === 'failed') return;
      // Also if only the candidates are about to be silent: they are known from an earlier run.
      expect(asGiven.decision.nextRunAt).toBeLessThanOrEqual(eager.decision.nextRunAt);
      const { candidates: _, ...memory } = eager.decision.memory;
      expect(asGiven.decision.memory).toMatchObject(memory);
    }),
    { numRuns: 3_000, seed },
  );
  for (const kind of ['healthy', 'unhealthy', 'skipped', 'confirming', 'failed', 'lazy']) {
    expect(seen.get(kind), kind).toBeGreaterThanOrEqual(240);
  }
  expect(seen.get('early')).toBeGreaterThanOrEqual(30);
});
