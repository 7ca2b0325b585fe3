// Plays random outages with faults in virtual time; a seed number determines each. `--seed N` plays one and prints its trace, other flags play many.
import { randomInt } from 'node:crypto';
import { cpuUsage } from 'node:process';
import { parseArgs } from 'node:util';
import { formatFailure, formatPlan, formatTrace } from '../simulator/outages/format.ts';
import { generatePlan } from '../simulator/outages/generate.ts';
import { type Run, runPlan } from '../simulator/outages/run.ts';
import { shrink } from '../simulator/outages/shrink.ts';
import { count, runCommand, say, write } from './harness/command.ts';
import { tableOf } from './harness/table.ts';

const usage = 'usage: simulate.ts [--seed N] [--from N] [--runs N]';
const tellEvery = 1_000;
/** Upper bound of the random seed number of the first plan. */
const highestStart = 2 ** 40;
const mostShrinkRuns = 300;
const mostFailures = 3;

/** Prints a failed run, and the smallest plan that still fails. */
const tellFailure = async (run: Run): Promise<void> => {
  const shrunk = await shrink(run, { run: runPlan, mostRuns: mostShrinkRuns });
  write(`${formatFailure(run, shrunk).join('\n')}\n`);
};

/** Plays one plan and prints its whole trace. Returns the exit code. */
const playOne = async (seed: number): Promise<number> => {
  const run = await runPlan(generatePlan(seed));
  if (run.violation !== undefined) {
    await tellFailure(run);
    return 1;
  }
  const lines = [
    ...formatPlan(run.plan),
    '',
    ...formatTrace(run.events),
    '',
    `seed ${String(seed)}: every invariant held`,
  ];
  write(lines.join('\n'));
  return 0;
};

/** Counts what a run did: scale-downs, restorations and deletes of pods. */
const countsOf = ({ plan, events, impact }: Run): Readonly<Record<string, number>> => {
  const scaled = events.flatMap((event) =>
    event.kind === 'deployment' && event.writer !== 'world'
      ? [[event.before?.replicas ?? 0, event.after?.replicas ?? 0] as const]
      : [],
  );
  const deletes = events.filter(
    (event) => event.kind === 'request' && event.stage === 'served' && event.verb === 'delete',
  );
  return {
    runs: 1,
    [`plans of a ${plan.component}`]: 1,
    faults: plan.faults.length,
    'nodes given up where nobody could have been in time': impact.nodesTurnedUnknown,
    'Deployments scaled down': scaled.filter(([from, to]) => from > 0 && to === 0).length,
    'Deployments restored': scaled.filter(([from, to]) => from === 0 && to > 0).length,
    'deletes of pods': deletes.length,
  };
};

/** Plays one plan after the other; stops after three failures. Returns the exit code. */
const playMany = async (from: number, runs: number): Promise<number> => {
  const last = from + runs - 1;
  write(`plans ${String(from)} to ${String(last)}: make simulate FROM=${String(from)} RUNS=${String(runs)}\n`);
  const totals: Record<string, number> = {};
  let [failures, lengthMs] = [0, 0];
  const before = cpuUsage();
  for (let seed = from; seed <= last && failures < mostFailures; seed += 1) {
    const run = await runPlan(generatePlan(seed));
    for (const [name, count] of Object.entries(countsOf(run))) totals[name] = (totals[name] ?? 0) + count;
    lengthMs += run.lengthMs;
    if (run.violation !== undefined) {
      failures += 1;
      await tellFailure(run);
    }
    if ((seed - from + 1) % tellEvery === 0) say(`${String(seed - from + 1)} of ${String(runs)} runs`);
  }
  const { user, system } = cpuUsage(before);
  const rows = Object.entries({
    ...totals,
    violations: failures,
    'virtual minutes': Math.round(lengthMs / 60_000),
    'CPU ms per run': Math.round((user + system) / 1_000 / (totals.runs ?? 1)),
  });
  const table = tableOf(
    [
      ['', ([name]) => name],
      ['number', ([, number]) => number],
    ],
    rows,
  );
  write(table);
  return failures === 0 ? 0 : 1;
};

const readLine = () => {
  const { values } = parseArgs({
    options: { seed: { type: 'string' }, runs: { type: 'string' }, from: { type: 'string' } },
  });
  return {
    seed: count('seed', values.seed, 0),
    from: count('from', values.from, 0) ?? randomInt(highestStart),
    runs: count('runs', values.runs) ?? 1_000,
  };
};

await runCommand(usage, readLine, ({ seed, from, runs }) =>
  seed === undefined ? playMany(from, runs) : playOne(seed),
);
