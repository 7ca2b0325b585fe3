import { limits } from '../support/garden-config.ts';
import { inSeconds, markdownTable } from '../support/table.ts';
import { aimMs, type Protection, type Restoration, type Spread } from './evaluate.ts';

/** What program and world cost in one part of the run. */
export interface Cost {
  readonly part: string;
  readonly seconds: number;
  readonly programCpuSeconds: number;
  readonly worldCpuSeconds: number;
  /** Of everything else on the machine: the two processes had to share with it. */
  readonly otherCpuSeconds: number;
  readonly worstWorldDelayMs: number;
  /** Of the program to the seed, watches included. */
  readonly seedRequests: number;
}

export interface Result {
  readonly target: string;
  readonly shoots: number;
  readonly deploymentsPerShoot: number;
  readonly protection: Protection;
  readonly restoration: Restoration;
  readonly nodesTurnedUnknown: number;
  readonly machinesReplaced: number;
  readonly peakBytes: number;
  readonly processors: number;
  readonly costs: readonly Cost[];
}

const share = (cpuSeconds: number, seconds: number): string => `${((100 * cpuSeconds) / seconds).toFixed(0)} %`;

export const failuresOf = (result: Result): readonly string[] => {
  const { shoots, deploymentsPerShoot, protection, restoration } = result;
  const checks: readonly (readonly [boolean, string])[] = [
    [protection.shoots === shoots, `only ${String(protection.shoots)} of ${String(shoots)} shoots were scaled down`],
    [
      protection.last.worst < aimMs,
      `the slowest shoot took ${inSeconds(protection.last.worst)} s, aim ${inSeconds(aimMs)} s`,
    ],
    [result.nodesTurnedUnknown === 0, `KCM gave up ${String(result.nodesTurnedUnknown)} nodes`],
    [result.machinesReplaced === 0, `MCM replaced ${String(result.machinesReplaced)} machines`],
    [restoration.isWithinTheLimit, 'scale-ups exceeded the ordinary rate limit'],
    [
      restoration.deployments === shoots * deploymentsPerShoot,
      `only ${String(restoration.deployments)} of ${String(shoots * deploymentsPerShoot)} Deployments were restored in time`,
    ],
  ];
  return checks.filter(([holds]) => !holds).map(([, failure]) => failure);
};

const cells = ({ median, p99, worst }: Spread): readonly string[] => [median, p99, worst].map(inSeconds);

/** The result in Markdown. */
export const tell = (result: Result): string => {
  const { protection, restoration, costs, shoots } = result;
  return [
    `## Outage of ${String(shoots)} shoots in the same second: ${result.target}`,
    '',
    markdownTable(
      ['seconds', 'median', 'p99', 'worst'],
      [
        ["from a shoot's threshold to its first scale-down write", ...cells(protection.first)],
        ['to its last scale-down write', ...cells(protection.last)],
        ['from the end of the outage to its last scale-up write', ...cells(restoration.last)],
      ],
    ),
    '',
    `Aim: ${inSeconds(aimMs)} s for the worst of the scale-downs. The thresholds lie within ${inSeconds(protection.spreadOfThresholds)} s.`,
    '',
    markdownTable(
      ['restoration', ''],
      [
        [
          'Deployments restored',
          `${String(restoration.deployments)} of ${String(shoots * result.deploymentsPerShoot)}`,
        ],
        ['ordinary requests a second, on average', restoration.ordinaryPerSecond.toFixed(2)],
        [
          `most requests beyond ${String(limits.qps)} a second after a burst of ${String(limits.burst)}`,
          restoration.beyondTheLimit.toFixed(1),
        ],
      ],
    ),
    '',
    markdownTable(
      [
        'part',
        'seconds',
        'program CPU',
        'world CPU',
        'other CPU',
        'worst delay of the world (ms)',
        'requests to the seed',
      ],
      costs.map((cost) => [
        cost.part,
        cost.seconds.toFixed(0),
        share(cost.programCpuSeconds, cost.seconds),
        share(cost.worldCpuSeconds, cost.seconds),
        share(cost.otherCpuSeconds, cost.seconds),
        cost.worstWorldDelayMs.toFixed(0),
        String(cost.seedRequests),
      ]),
    ),
    '',
    `CPU in percent of one processor; the machine has ${String(result.processors)}. The program's peak memory: ${(result.peakBytes / 1e6).toFixed(0)} MB.`,
    `Nodes given up by KCM: ${String(result.nodesTurnedUnknown)}; machines replaced: ${String(result.machinesReplaced)}.`,
  ].join('\n');
};
