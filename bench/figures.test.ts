import { describe, expect, it } from 'vitest';
import { readCommandLine } from './harness/options.ts';
import { type ServerTraffic, sumTraffic, trafficSince } from './harness/traffic.ts';
import { protectionOf, restorationOf } from './parts/outage-figures.ts';
import { type SteadyResult, steadyFailures } from './parts/steady-aims.ts';
import type { OutageReport, ScaleWrite, SeedRequest } from './worlds/outage.ts';

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
    const { shoots, first, last, spreadOfThresholds } = protectionOf({ leases, writes }, { deployments: 3, scale: 1 });
    expect({ shoots, first: first.worst, last: last.worst, spreadOfThresholds }).toEqual({
      shoots: 1,
      first: 100,
      last: 1_500,
      spreadOfThresholds: 4_000,
    });
  });

  it('takes the threshold from the scaled times of a quick run', () => {
    const leases = [{ namespace: 'a', renewals: [1_000, 1_000] }];
    const writes = [write('a', 4_250, [1, 0])];
    expect(protectionOf({ leases, writes }, { deployments: 1, scale: 0.1 }).last.worst).toBe(250);
  });

  const report = (parts: Partial<OutageReport>): OutageReport => ({
    leases: [],
    writes: [],
    requests: [],
    held: 0,
    fewestProbes: 0,
    nodesTurnedUnknown: 0,
    machinesReplaced: 0,
    worstLoopDelayMs: 0,
    ...parts,
  });

  it('ends for a shoot with its last scale-up', () => {
    const writes = [
      write('a', 2_000, [0, 1]),
      write('a', 9_000, [0, 2]),
      write('b', 4_000, [0, 1]),
      write('b', 8_000, [1, 0]),
    ];
    const { deployments, last } = restorationOf(report({ writes }), 1_000);
    expect([deployments, last.median, last.worst]).toEqual([3, 3_000, 8_000]);
  });

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
    const { beyondTheLimit, isWithinTheLimit } = restorationOf(report({ requests: [...spared, ...requests] }), 0);
    expect([beyondTheLimit, isWithinTheLimit]).toEqual([expect.closeTo(beyond), isWithin]);
  });
});

describe('the aims of the steady state', () => {
  const result = (shoots: number, parts: Partial<SteadyResult> = {}): SteadyResult => ({
    target: 'dwd',
    shoots,
    nodes: 50,
    intervalMs: 10_000,
    seconds: 10,
    cpuSeconds: shoots / 1_000,
    peakBytes: 100e6,
    probes: shoots,
    connections: shoots,
    resumed: shoots,
    bytesIn: 0,
    bytesOut: 0,
    shootKinds: {},
    seedKinds: {},
    floor: { cpuSeconds: shoots / 1_000, probes: shoots, peakBytes: 0 },
    worldCpuSeconds: 0,
    otherCpuSeconds: 0,
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

it('traffic is summed, and computed as the difference of two counts', () => {
  const traffic = (factor: number, kinds: ServerTraffic['kinds']): ServerTraffic => ({
    connections: factor,
    resumed: 2 * factor,
    bytesIn: 3 * factor,
    bytesOut: 4 * factor,
    kinds,
  });
  const [before, now] = [
    traffic(1, { 'list leases': { requests: 1, bytes: 10 }, 'list nodes': { requests: 1, bytes: 5 } }),
    traffic(5, { 'list leases': { requests: 3, bytes: 30 }, 'list nodes': { requests: 1, bytes: 5 } }),
  ];
  expect(trafficSince(before, now)).toEqual(traffic(4, { 'list leases': { requests: 2, bytes: 20 } }));
  expect(sumTraffic([before, trafficSince(before, now)])).toEqual(now);
});

describe('the command line', () => {
  it('measures two programs in turn', () => {
    const line = readCommandLine(['--target', 'a b', '--vs', 'c', '--only', 'outage', '--shoots', '7', '--json', 'x']);
    expect(line).toEqual({
      parts: ['outage'],
      targets: [
        { name: 'target', command: 'a b' },
        { name: 'other', command: 'c' },
      ],
      quick: false,
      shoots: 7,
      json: 'x',
    });
  });

  it.each([
    [['--only', 'weeder'], /there are steady, outage, starved, attacked, recovery/],
    [['--shoots', '0'], /not a whole number above 0/],
    [['--nodes', 'many'], /not a whole number above 0/],
    [['--slow'], /--slow/],
  ])('refuses %j', (args, message) => {
    expect(() => readCommandLine(['--target', 'a', ...args])).toThrow(message);
  });
});
