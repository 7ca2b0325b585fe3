import { limits } from '../harness/garden-config.ts';
import { type Column, inMegabytes, inSeconds, tableOf } from '../harness/table.ts';
import { type Protection, type RestorationFigures, type Quantiles, aimMs } from './outage-figures.ts';

/** Costs of the program and of the world in one part of the run. */
export interface PhaseCost {
  readonly part: string;
  readonly seconds: number;
  readonly programCpuSeconds: number;
  readonly worldCpuSeconds: number;
  /** CPU seconds of everything else on the machine, with which the two processes had to share it. */
  readonly otherCpuSeconds: number;
  readonly worstWorldDelayMs: number;
  /** Number of requests of the program to the seed, including watches. */
  readonly seedRequests: number;
}

export interface OutageResult {
  readonly target: string;
  readonly shoots: number;
  readonly deploymentsPerShoot: number;
  readonly protection: Protection;
  readonly restoration: RestorationFigures;
  readonly nodesTurnedUnknown: number;
  readonly machinesReplaced: number;
  readonly peakBytes: number;
  readonly processors: number;
  readonly costs: readonly PhaseCost[];
}

export const failuresOf = (result: OutageResult): readonly string[] => {
  const { shoots, deploymentsPerShoot, protection, restoration } = result;
  const { worst } = protection.last;
  const deployments = shoots * deploymentsPerShoot;
  const checks: readonly (readonly [boolean, string])[] = [
    [protection.shoots === shoots, `only ${String(protection.shoots)} of ${String(shoots)} shoots were scaled down`],
    [worst < aimMs, `the slowest shoot took ${inSeconds(worst)} s, aim ${inSeconds(aimMs)} s`],
    [result.nodesTurnedUnknown === 0, `KCM gave up ${String(result.nodesTurnedUnknown)} nodes`],
    [result.machinesReplaced === 0, `MCM replaced ${String(result.machinesReplaced)} machines`],
    [restoration.isWithinTheLimit, 'scale-ups exceeded the ordinary rate limit'],
    [
      restoration.deployments === deployments,
      `only ${String(restoration.deployments)} of ${String(deployments)} Deployments were restored in time`,
    ],
  ];
  return checks.filter(([holds]) => !holds).map(([, failure]) => failure);
};

const spreadColumns: readonly Column<{ readonly what: string; readonly spread: Quantiles }>[] = [
  ['seconds', ({ what }) => what],
  ['median', ({ spread }) => inSeconds(spread.median)],
  ['p99', ({ spread }) => inSeconds(spread.p99)],
  ['worst', ({ spread }) => inSeconds(spread.worst)],
];

const share = (cpuSeconds: number, seconds: number): string => `${((100 * cpuSeconds) / seconds).toFixed(0)} %`;

const costColumns: readonly Column<PhaseCost>[] = [
  ['part', (row) => row.part],
  ['seconds', (row) => row.seconds.toFixed(0)],
  ['program CPU', (row) => share(row.programCpuSeconds, row.seconds)],
  ['world CPU', (row) => share(row.worldCpuSeconds, row.seconds)],
  ['other CPU', (row) => share(row.otherCpuSeconds, row.seconds)],
  ['worst delay of the world (ms)', (row) => row.worstWorldDelayMs.toFixed(0)],
  ['requests to the seed', (row) => row.seedRequests],
];

const restorationTable = ({ restoration, shoots, deploymentsPerShoot }: OutageResult): string =>
  tableOf<readonly [string, string]>(
    [
      ['restoration', ([what]) => what],
      ['', ([, value]) => value],
    ],
    [
      ['Deployments restored', `${String(restoration.deployments)} of ${String(shoots * deploymentsPerShoot)}`],
      ['ordinary requests a second, on average', restoration.ordinaryPerSecond.toFixed(2)],
      [
        `most requests beyond ${String(limits.qps)} a second after a burst of ${String(limits.burst)}`,
        restoration.beyondTheLimit.toFixed(1),
      ],
    ],
  );

/** Formats one result in Markdown. */
export const markdownOf = (result: OutageResult): string => {
  const { protection, restoration, costs } = result;
  return [
    `## Outage of ${String(result.shoots)} shoots in the same second: ${result.target}`,
    '',
    tableOf(spreadColumns, [
      { what: "from a shoot's threshold to its first scale-down write", spread: protection.first },
      { what: 'to its last scale-down write', spread: protection.last },
      { what: 'from the end of the outage to its last scale-up write', spread: restoration.last },
    ]),
    '',
    `Aim: ${inSeconds(aimMs)} s for the worst of the scale-downs. The thresholds lie within ${inSeconds(protection.spreadOfThresholds)} s.`,
    '',
    restorationTable(result),
    '',
    tableOf(costColumns, costs),
    '',
    `CPU in percent of one processor; the machine has ${String(result.processors)}. The program's peak memory: ${inMegabytes(result.peakBytes)} MB.`,
    `Nodes given up by KCM: ${String(result.nodesTurnedUnknown)}; machines replaced: ${String(result.machinesReplaced)}.`,
  ].join('\n');
};
