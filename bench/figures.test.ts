import { describe, expect, it } from 'vitest';
import { addTraffic, noTraffic } from './harness/traffic.ts';
import { failuresOf, protectionOf, restorationOf } from './parts/outage-figures.ts';
import { type SteadyResult, steadyFailures } from './parts/steady.ts';
import type { ScaleWrite, SeedRequest } from './worlds/seed.ts';

const write = (namespace: string, at: number, [from, to]: readonly [number, number]): ScaleWrite => ({
  at,
  namespace,
  name: 'kube-controller-manager',
  from,
  to,
});

describe('the mass outage', () => {
  it('is measured from the time at which enough leases have expired, in the shoots whose Deployments were all scaled down', () => {
    // 0.6 of five leases is three: the expiry of the third lease counts, 30 s after its renewal.
    const leases = [
      { namespace: 'a', renewals: [5_000, 1_000, 4_000, 2_000, 3_000] },
      { namespace: 'b', renewals: [7_000, 7_000, 7_000, 7_000, 7_000] },
    ];
    const downs = [33_100, 33_200, 34_500].map((at) => write('a', at, [1, 0]));
    const writes = [...downs, write('b', 37_300, [1, 0]), write('a', 60_000, [0, 1])];
    const { shoots, first, last, spreadOfThresholds } = protectionOf({ leases, writes }, 1);
    expect({ shoots, first: first.worst, last: last.worst, spreadOfThresholds }).toEqual({
      shoots: 1,
      first: 100,
      last: 1_500,
      spreadOfThresholds: 4_000,
    });
  });

  it('takes the threshold from the scaled times of a quick run', () => {
    const leases = [{ namespace: 'a', renewals: [1_000, 1_000] }];
    const writes = [4_050, 4_100, 4_250].map((at) => write('a', at, [1, 0]));
    expect(protectionOf({ leases, writes }, 0.1).last.worst).toBe(250);
  });

  it('ends for a shoot with its last scale-up', () => {
    const writes = [
      write('a', 2_000, [0, 1]),
      write('a', 9_000, [0, 2]),
      write('b', 4_000, [0, 1]),
      write('b', 8_000, [1, 0]),
    ];
    const { deployments, last } = restorationOf({ writes, requests: [] }, 1_000);
    expect([deployments, last.median, last.worst]).toEqual([3, 3_000, 8_000]);
  });

  const spread = { median: 0, p99: 0, worst: 0 };
  const result = {
    ...{ shoots: 1, nodesTurnedUnknown: 0, machinesReplaced: 0, costs: [] },
    protection: { shoots: 1, first: spread, last: spread, spreadOfThresholds: 0 },
    restoration: { deployments: 3, last: spread, ordinaryPerSecond: 0, beyondTheLimit: 0 },
  };

  it.each([
    ['a burst of a hundred', Array.from({ length: 100 }, () => 0), 0, true],
    ['two more at once', Array.from({ length: 102 }, () => 0), 2, true],
    ['three more at once', Array.from({ length: 103 }, () => 0), 3, false],
    ['twenty a second after it', Array.from({ length: 200 }, (_, index) => Math.max(0, index - 99) * 50), 0, true],
    ['forty a second', Array.from({ length: 240 }, (_, index) => index * 25), 20.5, false],
  ])('limits restoration to twenty requests a second after a burst of a hundred: %s', (_, times, beyond, isWithin) => {
    const requests = times.map((at): SeedRequest => ({ at, verb: 'patch', resource: 'deployments' }));
    const spared: readonly SeedRequest[] = [
      { at: 0, verb: 'watch', resource: 'deployments' },
      { at: 0, verb: 'list', resource: 'machines' },
    ];
    const { beyondTheLimit } = restorationOf({ writes: [], requests: [...spared, ...requests] }, 0);
    expect(beyondTheLimit).toBeCloseTo(beyond);
    expect(failuresOf({ ...result, restoration: { ...result.restoration, beyondTheLimit } })).toEqual(
      isWithin ? [] : ['scale-ups exceeded the ordinary rate limit'],
    );
  });
});

describe('the aims of the steady state', () => {
  const result = (shoots: number, parts: Partial<SteadyResult> = {}): SteadyResult => ({
    ...{ shoots, nodes: 50, intervalMs: 10_000, seconds: 10, probes: shoots, seedRequests: 0 },
    ...{ cpuSeconds: shoots / 1_000, peakBytes: 100e6, traffic: noTraffic },
    floor: { cpuSeconds: shoots / 1_000, probes: shoots, peakBytes: 0 },
    ...{ worldCpuSeconds: 0, otherCpuSeconds: 0 },
    ...parts,
  });

  it.each([
    ['all are met', [result(100), result(1_000)], []],
    ['memory', [result(1_000, { peakBytes: 401e6 })], [/401 MB, aim 400/]],
    ['a whole processor', [result(1_000, { seconds: 0.8 })], [/1\.25 processors, aim 1/]],
    ['growth', [result(100), result(1_000, { cpuSeconds: 1.2 })], [/cost 20 % more with 1000/]],
    ['no growth among other nodes', [result(100, { nodes: 5 }), result(1_000, { cpuSeconds: 1.2 })], []],
    ['the floor', [result(10, { cpuSeconds: 0.021 })], [/2\.10 times the floor with 10 x 50/]],
  ])('%s', (_, results, missed) => {
    expect(steadyFailures(results)).toEqual(missed.map((pattern) => expect.stringMatching(pattern) as string));
  });
});

it('traffic is summed, and subtracted', () => {
  const before = {
    tcp: { connections: 1 },
    requests: { 'list leases': 1, 'list nodes': 1 },
    bytes: { 'list leases': 9 },
  };
  const since = { tcp: { connections: 4 }, requests: { 'list leases': 2 }, bytes: { 'list leases': 20 } };
  const now = addTraffic(before, since);
  expect(now.requests).toEqual({ 'list leases': 3, 'list nodes': 1 });
  expect(addTraffic(now, before, -1)).toEqual(since);
});
