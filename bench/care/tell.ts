import { inKilobytes, inMegabytes, inPercent, toldKinds } from '../steady/tell.ts';
import { markdownTable } from '../support/table.ts';
import type { CareResult } from './measure.ts';

const sizeOf = ({ shoots, nodes }: CareResult): string => `${String(shoots)} x ${String(nodes)}`;

const costRow = (result: CareResult): readonly string[] => {
  const { target, periodMs, cpuSeconds, runs, peakBytes, notTrue, worldCpuSeconds, otherCpuSeconds } = result;
  return [
    target,
    sizeOf(result),
    `${String(periodMs / 1_000)} s`,
    String(runs),
    inPercent(cpuSeconds, result),
    ((1_000 * cpuSeconds) / runs).toFixed(2),
    inMegabytes(peakBytes),
    String(notTrue),
    inPercent(worldCpuSeconds, result),
    inPercent(otherCpuSeconds, result),
  ];
};

const costHead = [
  'program',
  'shoots x nodes',
  'period',
  'runs',
  'CPU',
  'CPU ms a run',
  'peak MB',
  'not True',
  'world CPU',
  'other CPU',
];

const trafficRow = (result: CareResult): readonly string[] => {
  const { target, runs, connections, resumed, bytesOut, bytesIn, shootKinds, seedKinds } = result;
  return [
    target,
    sizeOf(result),
    (connections / runs).toFixed(2),
    connections === 0 ? '-' : `${((100 * resumed) / connections).toFixed(0)} %`,
    inKilobytes(bytesOut / runs),
    inKilobytes(bytesIn / runs),
    toldKinds(shootKinds, { probes: runs }),
    toldKinds(seedKinds, { probes: runs }),
  ];
};

const trafficHead = [
  'program',
  'shoots x nodes',
  'connections a run',
  'resumed',
  'kB out',
  'kB in',
  'requests to the shoot a run (answer)',
  'requests to the seed a run (answer)',
];

export const tellCare = (results: readonly CareResult[]): string =>
  [
    '## Care',
    '',
    markdownTable(costHead, results.map(costRow)),
    '',
    'A run checks one shoot, and lists its leases once; kB out and in are those of a run to its shoot, TLS included. `not True`: conditions that it',
    'found otherwise from its start on, by its log, in a world where all is well. `get pods` is the port-forward through the tunnel.',
    '',
    markdownTable(trafficHead, results.map(trafficRow)),
  ].join('\n');
