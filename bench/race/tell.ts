import { graceMs } from '../support/garden-config.ts';
import { inSeconds, markdownTable, quantile } from '../support/table.ts';
import type { Run } from './arena.ts';

/** KCM's process was gone so long before it may have marked the first node; below zero it was too late by so much. */
const marginOf = ({ markableAt, stoppedAt }: Run): number | undefined =>
  stoppedAt === undefined ? undefined : markableAt - stoppedAt;

const head = [
  'shoot',
  'prober',
  'grace (s)',
  'threshold (s)',
  'KCM stopped (s)',
  'threshold to stop (s)',
  'margin (s)',
  'first Unknown (s)',
  'nodes Unknown',
];

const since = (at: number | undefined, { silentSince }: Run): string =>
  inSeconds(at === undefined ? undefined : at - silentSince);

const rowOf = (run: Run): readonly string[] => [
  run.shoot,
  run.isProtected ? 'yes' : 'no',
  inSeconds(graceMs),
  since(run.thresholdAt, run),
  since(run.stoppedAt, run),
  inSeconds(run.stoppedAt === undefined ? undefined : run.stoppedAt - run.thresholdAt),
  inSeconds(marginOf(run)),
  since(run.firstUnknownAt, run),
  `${String(run.unknown)}/${String(run.nodes)}`,
];

const failureOf = ({ shoot, isProtected, unknown, nodes, stoppedAt }: Run): string | undefined => {
  if (isProtected && unknown > 0) return `${shoot}: ${String(unknown)} nodes turned Unknown with the prober`;
  if (isProtected && stoppedAt === undefined) return `${shoot}: the prober did not scale KCM down`;
  if (!isProtected && unknown < nodes) return `${shoot}: only ${String(unknown)} nodes turned Unknown without`;
  return undefined;
};

/** The result of all runs in Markdown, and the exit code that it amounts to. */
export const tellRace = (runs: readonly Run[]): { readonly text: string; readonly exitCode: number } => {
  const margins = runs.flatMap((run) => marginOf(run) ?? []);
  const failures = runs.flatMap((run) => failureOf(run) ?? []);
  const [least, median, most] = [0, 0.5, 1].map((q) => inSeconds(quantile(margins, q)));
  const text = [
    '## The prober against kube-controller-manager',
    '',
    'Times count from the last renewal of the node that fell silent first; grace and intervals are the real ones. KCM is stopped (SIGKILL)',
    'when its Deployment in the seed, looked at every 50 ms, says 0 replicas. The margin is what was left until KCM may have marked a node.',
    '',
    markdownTable(head, runs.map(rowOf)),
    '',
    `Margin over ${String(margins.length)} runs: least ${least ?? ''}, median ${median ?? ''}, most ${most ?? ''} s.`,
    '',
    ...(failures.length === 0 ? ['The prober won every race, and without it every node was lost.'] : failures),
  ].join('\n');
  return { text, exitCode: failures.length === 0 ? 0 : 1 };
};
