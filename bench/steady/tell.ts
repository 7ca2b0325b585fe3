import { markdownTable } from '../support/table.ts';
import type { Kinds } from '../support/traffic.ts';
import type { SteadyResult } from './measure.ts';

/** Megabytes, and not mebibytes. */
export const inMegabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);
export const inKilobytes = (bytes: number): string => (bytes / 1e3).toFixed(1);
export const inPercent = (cpuSeconds: number, { seconds }: { readonly seconds: number }): string =>
  `${((100 * cpuSeconds) / seconds).toFixed(1)} %`;
const perProbe = (value: number, { probes }: { readonly probes: number }): number => value / probes;

/** CPU milliseconds of a probe. */
export const probeMs = ({ cpuSeconds, probes }: { readonly cpuSeconds: number; readonly probes: number }): number =>
  (1_000 * cpuSeconds) / probes;

export const ratioToFloor = (result: SteadyResult): number => probeMs(result) / probeMs(result.floor);

const sizeOf = ({ shoots, nodes }: SteadyResult): string => `${String(shoots)} x ${String(nodes)}`;

const costRow = (result: SteadyResult): readonly string[] => [
  result.target,
  sizeOf(result),
  `${String(result.intervalMs / 1_000)} s`,
  inPercent(result.cpuSeconds, result),
  probeMs(result).toFixed(2),
  probeMs(result.floor).toFixed(2),
  ratioToFloor(result).toFixed(2),
  inMegabytes(result.peakBytes),
  inMegabytes(result.floor.peakBytes),
  inPercent(result.worldCpuSeconds, result),
  inPercent(result.otherCpuSeconds, result),
];

const costHead = [
  'program',
  'shoots x nodes',
  'interval',
  'CPU',
  'CPU ms a probe',
  'floor: ms',
  'ratio',
  'peak MB',
  'floor: MB',
  'world CPU',
  'other CPU',
];

/** Kinds of requests, the most frequent first, with their number for each probe (of care: run) and the bytes of an answer. */
export const toldKinds = (kinds: Kinds, result: { readonly probes: number }): string =>
  Object.entries(kinds)
    .filter(([, { requests }]) => requests > 0)
    .sort(([, a], [, b]) => b.requests - a.requests)
    .map(([kind, { requests, bytes }]) => {
      const number = perProbe(requests, result).toFixed(2);
      return `${number} ${kind} (${inKilobytes(bytes / requests)} kB)`;
    })
    .join(', ') || 'none';

const trafficRow = (result: SteadyResult): readonly string[] => [
  result.target,
  sizeOf(result),
  String(result.probes),
  perProbe(result.connections, result).toFixed(2),
  `${((100 * result.resumed) / result.connections).toFixed(0)} %`,
  inKilobytes(perProbe(result.bytesOut, result)),
  inKilobytes(perProbe(result.bytesIn, result)),
  toldKinds(result.shootKinds, result),
  toldKinds(result.seedKinds, result),
];

const trafficHead = [
  'program',
  'shoots x nodes',
  'probes',
  'connections a probe',
  'resumed',
  'kB out',
  'kB in',
  'requests to the shoot a probe (answer)',
  'requests to the seed a probe (answer)',
];

export const tellSteady = (results: readonly SteadyResult[]): string =>
  [
    '## Healthy steady state',
    '',
    markdownTable(costHead, results.map(costRow)),
    '',
    'CPU in percent of one processor, over the whole measurement; `other CPU` is what everything else on the machine used meanwhile. The floor makes',
    'the same requests at the same pace beside it. A probe is one list of leases; kB out and in are those of one probe, TLS included.',
    '',
    markdownTable(trafficHead, results.map(trafficRow)),
  ].join('\n');
