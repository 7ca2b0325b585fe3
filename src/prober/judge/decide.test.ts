import { describe, expect, it } from 'vitest';
import { ApiError } from '../../kubernetes/api/errors.ts';
import {
  defaultSettings,
  disturbed,
  held,
  leasesOf,
  nodeOf,
  origin,
  runProbe,
  runProbes,
  undisturbed,
  bySingleLeases,
} from '../testing/probe-run.ts';
import { type ProbeMemory, emptyProbeMemory } from './probe-memory.ts';

const fresh = (count: number, at: number) => Array.from({ length: count }, () => at - 1_000);

/** Decision at 100 s, with `expired` of `candidates` leases not renewed since 50 s, all of them seen before. */
const judge = (
  counts: { readonly expired: number; readonly candidates: number },
  options: { readonly fraction?: number; readonly dependents?: typeof held } = {},
) => {
  const { expired, candidates } = counts;
  const settings = { ...defaultSettings, nodeLeaseFailureFraction: options.fraction ?? 0.6 };
  const { dependents = disturbed } = options;
  const old = Array.from({ length: expired }, () => 50_000);
  const [, last] = runProbes(emptyProbeMemory, [
    { at: 60_000, leases: leasesOf([...old, ...fresh(candidates - expired, 60_000)]), settings, dependents },
    { at: 100_000, leases: leasesOf([...old, ...fresh(candidates - expired, 100_000)]), settings, dependents },
  ]);
  if (last === undefined) throw new Error('no run');
  return last.decision;
};

describe('the verdict', () => {
  it.each([
    [0, 2, 0.6, 'healthy'],
    [1, 2, 0.6, 'healthy'],
    [2, 2, 0.6, 'unhealthy'],
    [1, 2, 0.5, 'unhealthy'],
    [2, 4, 0.6, 'healthy'],
    [3, 5, 0.6, 'unhealthy'],
    [5, 9, 0.6, 'healthy'],
    [6, 10, 0.6, 'unhealthy'],
    [1, 100, 0.01, 'unhealthy'],
    [1, 101, 0.01, 'healthy'],
    [0, 50, 0.01, 'healthy'],
    [99, 100, 1, 'healthy'],
    [100, 100, 1, 'unhealthy'],
  ])('%d of %d expired with fraction %d: %s', (expired, candidates, fraction, kind) => {
    const decision = judge({ expired, candidates }, { fraction });
    expect(decision.verdict.kind).toBe(kind);
    expect(decision.counts).toEqual({ candidates, expired });
    expect(decision.reason).toContain(`${String(expired)}/${String(candidates)} node leases expired`);
    expect(decision.reason).toContain(String(fraction));
  });

  it('comes with the number of nodes, and the reason for each lease and node that does not count', () => {
    const leases = leasesOf([50_000, 50_000, 50_000]);
    const [a = '', b = '', c = ''] = leases.map(({ name }) => name);
    const { decision } = runProbe(emptyProbeMemory, {
      at: 100_000,
      leases,
      nodes: [a, b, 'new', 'unmanaged'].map((name) => ({ ...nodeOf(name), managedByMcm: name !== 'unmanaged' })),
      machines: [a, 'new'].map((node) => ({ node, phase: 'Running', deleting: false })),
    });
    expect(decision.counts?.candidates).toBe(1);
    expect(decision.nodes).toBe(4);
    expect(Object.fromEntries(decision.leftOut ?? [])).toEqual({
      [b]: 'its Machine is gone, or it never had one',
      [c]: 'there is no such node',
      new: 'it has no lease yet',
      unmanaged: 'not managed by MCM',
    });
  });

  it('is healthy without candidates: nothing shows that nodes are cut off', () => {
    const decision = judge({ expired: 0, candidates: 0 });
    expect(decision).toMatchObject({
      verdict: { kind: 'healthy', scope: 'all' },
      counts: { candidates: 0, expired: 0 },
      reason: 'no candidate nodes',
    });
  });

  it('rests on candidates only', () => {
    const leases = leasesOf([50_000, 50_000, 50_000, 99_000, 99_000]);
    const nodes = leases.map(({ name }) => nodeOf(name));
    const before = leasesOf([50_000, 50_000, 50_000, 59_000, 59_000]);
    const seen = runProbe(emptyProbeMemory, { at: 60_000, leases: before }).decision.memory;
    const verdictWith = (rest: Partial<Parameters<typeof runProbe>[1]>) =>
      runProbe(seen, { at: 100_000, leases, ...rest }).decision;
    expect(verdictWith({}).verdict.kind).toBe('unhealthy');
    // Leases without a node, and nodes without a Machine, do not count.
    expect(verdictWith({ nodes: nodes.slice(2) })).toMatchObject({
      verdict: { kind: 'healthy' },
      counts: { candidates: 3, expired: 1 },
    });
    const machines = ['node-3', 'node-4', 'node-5'].map((node) => ({ node, phase: 'Running', deleting: false }));
    expect(verdictWith({ machines }).counts).toEqual({ candidates: 3, expired: 1 });
    // Nodes without a lease do not count either.
    expect(verdictWith({ nodes: [...nodes, nodeOf('node-6')] }).counts).toEqual({ candidates: 5, expired: 3 });
    expect(verdictWith({ nodes: [] }).verdict).toEqual({ kind: 'healthy', scope: 'all' });
  });

  it('follows the conditions of the pools', () => {
    const leases = leasesOf([50_000, 50_000, 99_000]);
    const seen = runProbe(emptyProbeMemory, { at: 60_000, leases: leasesOf([50_000, 50_000, 59_000]) }).decision.memory;
    const nodes = leases.map(({ name }) => ({ ...nodeOf(name), pool: 'a', trueConditions: new Set(['Rusty']) }));
    const settings = { ...defaultSettings, poolConditions: new Map([['a', ['Rusty']]]) };
    expect(runProbe(seen, { at: 100_000, leases, nodes }).decision.verdict.kind).toBe('unhealthy');
    expect(runProbe(seen, { at: 100_000, leases, nodes, settings }).decision.counts?.candidates).toBe(0);
  });

  it('has the instant at which the threshold was crossed: the expiry of the lease that reached it', () => {
    const [, last] = runProbes(emptyProbeMemory, [
      { at: 60_000, leases: leasesOf([40_000, 45_000, 48_000, 58_000, 59_500]) },
      { at: 100_000, leases: leasesOf([40_000, 45_000, 48_000, 99_000, 99_500]) },
    ]);
    expect(last?.decision.verdict).toEqual({ kind: 'unhealthy', crossedAt: 78_000 });
  });

  it('has a finite instant even for leases that never were renewed', () => {
    const leases = leasesOf([null, null]);
    const [, last] = runProbes(emptyProbeMemory, [
      { at: 98_000, leases },
      { at: 100_000, leases },
    ]);
    expect(last?.decision.verdict).toEqual({ kind: 'unhealthy', crossedAt: 100_000 });
  });
});

describe('a single candidate', () => {
  it.each([
    { dependents: disturbed, expired: 0, verdict: { kind: 'skipped' } },
    { dependents: disturbed, expired: 1, verdict: { kind: 'skipped' } },
    { dependents: held, expired: 1, verdict: { kind: 'skipped' } },
    { dependents: held, expired: 0, verdict: { kind: 'healthy', scope: 'held' } },
  ])('$verdict.kind with $expired expired, held: $dependents.anyHeld', ({ dependents, expired, verdict }) => {
    const decision = judge({ expired, candidates: 1 }, { dependents });
    expect(decision.verdict).toEqual(verdict);
    expect(decision.counts).toEqual({ candidates: 1, expired });
  });

  it('may be one of many leases', () => {
    const leases = leasesOf([50_000, 50_000, 99_000]);
    const seen = runProbe(emptyProbeMemory, { at: 60_000, leases: leasesOf([50_000, 50_000, 59_000]) }).decision.memory;
    const nodes = [nodeOf('node-3')];
    expect(runProbe(seen, { at: 100_000, leases, nodes }).decision.verdict.kind).toBe('skipped');
    const dependents = held;
    expect(runProbe(seen, { at: 100_000, leases, nodes, dependents }).decision.verdict).toMatchObject({
      scope: 'held',
    });
  });
});

describe('leases seen for the first time', () => {
  const first = (leases: Parameters<typeof runProbe>[1]['leases'], memory: ProbeMemory = emptyProbeMemory) =>
    runProbe(memory, { at: 100_000, leases });

  it('are confirmed 2 s later before anything is scaled down', () => {
    const leases = leasesOf([50_000, 50_000, 50_000]);
    const { decision } = first(leases);
    expect(decision).toMatchObject({ verdict: { kind: 'confirming' }, nextRunAt: 102_000 });
    expect(decision.counts).toEqual({ candidates: 3, expired: 3 });
    expect([...decision.memory.unconfirmedLeases]).toEqual(['node-1', 'node-2', 'node-3']);
    const second = runProbe(decision.memory, { at: 102_000, leases }).decision;
    expect(second.verdict).toEqual({ kind: 'unhealthy', crossedAt: 80_000 });
    expect(second.memory.unconfirmedLeases.size).toBe(0);
  });

  it('are confirmed by the next good run, should the second observation fail', () => {
    const leases = leasesOf([50_000, 50_000]);
    const [, failed, third] = runProbes(emptyProbeMemory, [
      { at: 100_000, leases },
      { at: 102_000, leases, failures: { nodes: timeout() } },
      { at: 112_000, leases: leasesOf([50_000, 111_000]) },
    ]);
    expect(failed?.decision.verdict.kind).toBe('failed');
    // The lease that was renewed proves the timestamps wrong.
    expect(third?.decision).toMatchObject({ verdict: { kind: 'healthy' }, counts: { expired: 0 } });
  });

  it('disprove all timestamps of the shoot if one of them is renewed by the second observation', () => {
    const { memory } = first(leasesOf([50_000, 50_000, 50_000, 50_000])).decision;
    const renewed = runProbe(memory, { at: 102_000, leases: leasesOf([50_000, 50_000, 50_000, 61_000]) }).decision;
    expect(renewed).toMatchObject({ verdict: { kind: 'healthy' }, counts: { candidates: 4, expired: 0 } });
    // After the expiry age the silent kubelets are certainly cut off.
    const leases = leasesOf([50_000, 50_000, 50_000, 61_000]);
    const before = runProbe(renewed.memory, { at: 129_999, leases, settings: bySingleLeases }).decision;
    expect(before).toMatchObject({ verdict: { kind: 'healthy' }, counts: { expired: 0 } });
    const after = runProbe(before.memory, { at: 130_000, leases }).decision;
    expect(after).toMatchObject({ verdict: { kind: 'unhealthy' }, counts: { expired: 3 } });
  });

  it('disprove nothing if only a lease that was not expired is renewed', () => {
    const { memory } = first(leasesOf([50_000, 50_000, 95_000])).decision;
    const second = runProbe(memory, { at: 102_000, leases: leasesOf([50_000, 50_000, 101_500]) }).decision;
    expect(second).toMatchObject({ verdict: { kind: 'unhealthy' }, counts: { expired: 2 } });
  });

  it('disprove nothing if only a lease that is no candidate is renewed', () => {
    const leases = leasesOf([50_000, 50_000, 50_000]);
    const nodes = [nodeOf('node-1'), nodeOf('node-2')];
    const { memory } = runProbe(emptyProbeMemory, { at: 100_000, leases, nodes }).decision;
    expect([...memory.unconfirmedLeases]).toEqual(['node-1', 'node-2']);
    const second = runProbe(memory, { at: 102_000, leases: leasesOf([50_000, 50_000, 61_000]), nodes }).decision;
    expect(second.verdict.kind).toBe('unhealthy');
  });

  it('need no confirmation if the leases seen before reach the threshold alone', () => {
    const seen = runProbe(emptyProbeMemory, { at: 60_000, leases: leasesOf([50_000, 50_000, 50_000]) }).decision.memory;
    const enough = runProbe(seen, { at: 100_000, leases: leasesOf([50_000, 50_000, 50_000, 50_000, 50_000]) }).decision;
    expect(enough).toMatchObject({ verdict: { kind: 'unhealthy' }, counts: { candidates: 5, expired: 5 } });
    const short = runProbe(seen, { at: 100_000, leases: leasesOf([50_000, 50_000, 99_000, 50_000, 50_000]) }).decision;
    expect(short).toMatchObject({ verdict: { kind: 'confirming' }, counts: { candidates: 5, expired: 4 } });
    expect([...short.memory.unconfirmedLeases]).toEqual(['node-4', 'node-5']);
  });

  it('prove no more than leases renewed in a long gap, where a wrong clock may have put the renewal anywhere', () => {
    // We were throttled for a minute, and our clock is 45 s ahead: a lease renewed 5 s ago appears 50 s old.
    const before = runProbe(emptyProbeMemory, { at: 60_000, leases: leasesOf([58_000, 58_000]) }).decision.memory;
    const observation = { wall: origin + 130_000 + 45_000 };
    const after = runProbe(before, { at: 130_000, leases: leasesOf([125_000, 125_000]), observation }).decision;
    expect(after).toMatchObject({ verdict: { kind: 'confirming' }, nextRunAt: 132_000, counts: { expired: 2 } });
    const later = { at: 132_000, observation: { wall: origin + 132_000 + 45_000 } };
    const renewed = runProbe(after.memory, { ...later, leases: leasesOf([125_000, 131_500]) }).decision;
    expect(renewed).toMatchObject({ verdict: { kind: 'healthy' }, counts: { expired: 0 } });
    const silent = runProbe(after.memory, { ...later, leases: leasesOf([125_000, 125_000]) }).decision;
    expect(silent.verdict.kind).toBe('unhealthy');
  });

  it('allow a scale-up at once: it needs no confirmation', () => {
    expect(first(leasesOf([99_000, 99_000, 50_000])).decision.verdict.kind).toBe('healthy');
  });

  it('do not expire because our own clock is wrong', () => {
    const observation = { wall: origin + 100_000 + 600_000, skewMs: -600_000 };
    const leases = leasesOf([95_000, 96_000]);
    const { decision } = runProbe(emptyProbeMemory, { at: 100_000, leases, observation });
    expect(decision).toMatchObject({ verdict: { kind: 'healthy' }, counts: { expired: 0 } });
  });
});

describe('nodes and machines', () => {
  it.each([
    { what: 'all fresh', renewed: [99_000, 99_000, 99_000], fraction: 0.6, lazy: true },
    { what: 'all fresh, the least fraction', renewed: [99_000, 99_000, 99_000], fraction: 0.01, lazy: true },
    { what: 'no leases', renewed: [], fraction: 0.6, lazy: true },
    { what: 'a single lease, expired', renewed: [50_000], fraction: 0.01, lazy: true },
    {
      what: 'one expired, which may be half of two candidates',
      renewed: [50_000, 99_000, 99_000],
      fraction: 0.5,
      lazy: false,
    },
    {
      what: 'one expired, which is less than 0.6 of two candidates',
      renewed: [50_000, 99_000, 99_000],
      fraction: 0.6,
      lazy: true,
    },
    { what: 'two expired, which may be all candidates', renewed: [50_000, 50_000, 99_000], fraction: 1, lazy: false },
  ])('are not listed with $what (fraction $fraction): $lazy', ({ renewed, fraction, lazy }) => {
    const settings = { ...defaultSettings, nodeLeaseFailureFraction: fraction };
    const run = { at: 100_000, leases: leasesOf(renewed), settings };
    const { isEager, decision } = runProbe(emptyProbeMemory, { ...run, dependents: undisturbed });
    expect(isEager).toBe(!lazy);
    if (lazy) expect(decision).toMatchObject({ verdict: { kind: 'healthy', scope: 'all' } });
    if (lazy) expect(decision.counts).toBeUndefined();
    expect(runProbe(emptyProbeMemory, { ...run, dependents: disturbed }).isEager).toBe(true);
  });
});

const timeout = () => new ApiError({ code: 'Timeout', message: 'nodes: timed out' });
