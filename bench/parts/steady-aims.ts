import type { Figures, Floor } from '../harness/healthy.ts';

/** Result of one program in the healthy steady state of a seed of one size. */
export interface SteadyResult extends Figures {
  readonly intervalMs: number;
  /** Number of requests that list leases. */
  readonly probes: number;
  readonly floor: Floor;
}

/** CPU milliseconds per probe. */
export const probeMs = ({ cpuSeconds, probes }: Omit<Floor, 'peakBytes'>): number => (1_000 * cpuSeconds) / probes;

export const ratioToFloor = (result: SteadyResult): number => probeMs(result) / probeMs(result.floor);

/** Aims for 1000 shoots of 50 nodes: processors, and bytes of peak memory. */
const [mostProcessors, mostBytes] = [1, 400e6];
/** Allowed relative difference of the CPU time per probe between 100 and 1000 shoots, in both directions. */
const tolerance = 0.15;
const mostRatio = 2;

const find = (results: readonly SteadyResult[], shoots: number): SteadyResult | undefined =>
  results.find((result) => result.shoots === shoots && result.nodes === 50);

const largeFailures = (large: SteadyResult): readonly string[] => {
  const processors = large.cpuSeconds / large.seconds;
  return [
    ...(processors < mostProcessors ? [] : [`1000 shoots took ${processors.toFixed(2)} processors, aim 1`]),
    ...(large.peakBytes < mostBytes ? [] : [`1000 shoots took ${(large.peakBytes / 1e6).toFixed(0)} MB, aim 400`]),
  ];
};

const growthFailures = (small: SteadyResult, large: SteadyResult): readonly string[] => {
  const growth = probeMs(large) / probeMs(small) - 1;
  if (Math.abs(growth) <= tolerance) return [];
  return [
    `a probe cost ${(100 * growth).toFixed(0)} % more with 1000 shoots than with 100, aim 15 % at most either way`,
  ];
};

const ratioFailures = (result: SteadyResult): readonly string[] => {
  const ratio = ratioToFloor(result);
  if (ratio <= mostRatio) return [];
  const { shoots, nodes } = result;
  return [`a probe cost ${ratio.toFixed(2)} times the floor with ${String(shoots)} x ${String(nodes)}, aim 2`];
};

/** Names the aims that one program missed, as far as the sizes for them were measured. */
export const steadyFailures = (results: readonly SteadyResult[]): readonly string[] => {
  const [small, large] = [find(results, 100), find(results, 1_000)];
  return [
    ...(large === undefined ? [] : largeFailures(large)),
    ...(small === undefined || large === undefined ? [] : growthFailures(small, large)),
    ...results.flatMap(ratioFailures),
  ];
};
