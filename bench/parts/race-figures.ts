import { graceMs } from '../harness/garden-config.ts';
import { type Column, inSeconds, quantile, tableOf } from '../harness/table.ts';
import type { Run } from '../worlds/arena.ts';

/** KCM's process was gone so long before it may have marked the first node; below zero it was too late by so much. */
const marginOf = ({ markableAt, stoppedAt }: Run): number | undefined =>
  stoppedAt === undefined ? undefined : markableAt - stoppedAt;

const since = (at: number | undefined, { silentSince }: Run): string =>
  inSeconds(at === undefined ? undefined : at - silentSince);

const columns: readonly Column<Run>[] = [
  ['shoot', (run) => run.shoot],
  ['prober', (run) => (run.isProtected ? 'yes' : 'no')],
  ['grace (s)', () => inSeconds(graceMs)],
  ['threshold (s)', (run) => since(run.thresholdAt, run)],
  ['KCM stopped (s)', (run) => since(run.stoppedAt, run)],
  [
    'threshold to stop (s)',
    (run) => inSeconds(run.stoppedAt === undefined ? undefined : run.stoppedAt - run.thresholdAt),
  ],
  ['margin (s)', (run) => inSeconds(marginOf(run))],
  ['first Unknown (s)', (run) => since(run.firstUnknownAt, run)],
  ['nodes Unknown', (run) => `${String(run.unknown)}/${String(run.nodes)}`],
];

const failureOf = ({ shoot, isProtected, unknown, nodes, stoppedAt }: Run): string | undefined => {
  if (isProtected && unknown > 0) return `${shoot}: ${String(unknown)} nodes turned Unknown with the prober`;
  if (isProtected && stoppedAt === undefined) return `${shoot}: the prober did not scale KCM down`;
  if (!isProtected && unknown < nodes) return `${shoot}: only ${String(unknown)} nodes turned Unknown without`;
  return undefined;
};

/** The result of all runs in Markdown, and the exit code that it amounts to. */
export const raceResult = (runs: readonly Run[]): { readonly text: string; readonly exitCode: number } => {
  const margins = runs.flatMap((run) => marginOf(run) ?? []);
  const failures = runs.flatMap((run) => failureOf(run) ?? []);
  const [least, median, most] = [0, 0.5, 1].map((q) => inSeconds(quantile(margins, q)));
  const text = [
    '## The prober against kube-controller-manager',
    '',
    'Times count from the last renewal of the node that fell silent first; grace and intervals are the real ones. KCM is stopped (SIGKILL)',
    'when its Deployment in the seed, looked at every 50 ms, says 0 replicas. The margin is what was left until KCM may have marked a node.',
    '',
    tableOf(columns, runs),
    '',
    `Margin over ${String(margins.length)} runs: least ${least ?? ''}, median ${median ?? ''}, most ${most ?? ''} s.`,
    '',
    ...(failures.length === 0 ? ['The prober won every race, and without it every node was lost.'] : failures),
  ].join('\n');
  return { text, exitCode: failures.length === 0 ? 0 : 1 };
};
