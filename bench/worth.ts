// Measures what each rule of the prober is worth: the same outages are played in virtual time with all rules, and with one rule switched off at a time. Prints
// the differences that somebody outside can see. The same code always prints the same table.
import { fork } from 'node:child_process';
import { stderr } from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { count, namesIn, runCommand, write } from './harness/command.ts';
import { type Column, tableOf } from './harness/table.ts';
import { type Outcome, add, noOutcome } from './worth/outcome.ts';
import { type Rule, rules } from './worth/rules.ts';
import { scenarios } from './worth/scenarios.ts';
import type { Outcomes } from './worth/worker.ts';

const usage = 'usage: worth.ts [--only RULE,...] [--scenarios NAME,...] [--every N] [--jobs N]';
const workerPath = fileURLToPath(new URL('worth/worker.ts', import.meta.url));

interface Row {
  readonly name: string;
  readonly outcomes: Outcomes;
}

interface Chosen {
  /** Scenarios. */
  readonly names: readonly string[];
  /** Of each scenario every n-th plan is played. */
  readonly every: number;
}

/** Plays the scenarios in a process of its own, with the rule switched off, or with all rules if it is undefined. */
const play = (rule: Rule | undefined, { names, every }: Chosen): Promise<Row> =>
  new Promise((resolve, reject) => {
    let outcomes: Outcomes | undefined;
    const name = rule?.name ?? 'none';
    const child = fork(workerPath, [name, String(every), ...names]);
    child.on('message', (message: Outcomes) => (outcomes = message));
    child.once('error', reject);
    child.once('exit', (code) => {
      if (outcomes === undefined) reject(new Error(`worth: with ${name} off the process ended with ${String(code)}`));
      else resolve({ name, outcomes });
    });
  });

/** Plays the rules, `jobs` at a time. */
const playAll = async (played: readonly (Rule | undefined)[], chosen: Chosen, jobs: number) => {
  const rows: Row[] = [];
  const left = played.entries();
  const work = async (): Promise<void> => {
    for (const [index, rule] of left) {
      rows[index] = await play(rule, chosen);
      stderr.write(
        `${String(rows.filter(Boolean).length)} of ${String(played.length)}: ${rule?.name ?? 'all rules'}\n`,
      );
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return rows;
};

const sum = (outcomes: readonly Outcome[]): Outcome => outcomes.reduce((total, one) => add(total, one), noOutcome);

const sumOfAll = (outcomes: Outcomes): Outcome => sum(Object.values(outcomes).flat());

const signed = (value: number): string => (value > 0 ? `+${String(value)}` : String(value));

/** The scenarios in which nodes, machines or controllers differ, such as `late: nodes +12`. */
const placesOf = (row: Outcomes, all: Outcomes): string =>
  Object.entries(row)
    .flatMap(([name, outcomes]) => {
      const difference = add(sum(outcomes), sum(all[name] ?? []), -1);
      const parts = (['nodes', 'machines', 'stopped'] as const)
        .filter((one) => difference[one] !== 0)
        .map((one) => `${one} ${signed(difference[one])}`);
      return parts.length === 0 ? [] : [`${name}: ${parts.join(', ')}`];
    })
    .join('; ');

/** The last cell of a line is `about`. */
type Line = Outcome & { readonly name: string; readonly where: string; readonly about: string };

const columnsOf = (format: (value: number) => string): readonly Column<Line>[] => [
  ['nodes Unknown', ({ nodes }) => format(nodes)],
  ['machines replaced', ({ machines }) => format(machines)],
  ['controllers stopped needlessly', ({ stopped }) => format(stopped)],
  ['seconds of KCM needlessly at 0', ({ kcmSeconds }) => format(kcmSeconds)],
  ['requests', ({ requests }) => format(requests)],
  ['KCM starts', ({ kcmStarts }) => format(kcmStarts)],
];
const about = ({ about: text }: Line): string => text;

const tableOfScenarios = (all: Outcomes): string => {
  const lines = scenarios.flatMap(({ name, what }): readonly Line[] => {
    const outcomes = all[name];
    if (outcomes === undefined) return [];
    return [{ name, ...sum(outcomes), where: '', about: `${String(outcomes.length)} plans: ${what}` }];
  });
  const total = { name: 'all', ...sumOfAll(all), where: '', about: '' };
  return tableOf([['all rules on', ({ name }) => name], ...columnsOf(String), ['scenario', about]], [...lines, total]);
};

const tableOfRules = (all: Outcomes, rows: readonly Row[]): string => {
  const lines = rows.map(({ name, outcomes }) => ({
    name,
    ...add(sumOfAll(outcomes), sumOfAll(all), -1),
    where: placesOf(outcomes, all),
    about: rules.find((rule) => rule.name === name)?.purpose ?? '',
  }));
  const head: Column<Line> = ['without the rule', ({ name }) => name];
  return tableOf([head, ...columnsOf(signed), ['where', ({ where }) => where], ['what it is for', about]], lines);
};

interface CommandLine extends Chosen {
  readonly off: readonly Rule[];
  readonly jobs: number;
}

const readLine = (): CommandLine => {
  const ruleNames = rules.map(({ name }) => name);
  const scenarioNames = scenarios.map(({ name }) => name);
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: ruleNames.join(',') },
      scenarios: { type: 'string', default: scenarioNames.join(',') },
      every: { type: 'string', default: '1' },
      jobs: { type: 'string', default: '2' },
    },
  });
  const only = namesIn('only', values.only, ruleNames);
  return {
    off: rules.filter(({ name }) => only.includes(name)),
    names: namesIn('scenarios', values.scenarios, scenarioNames),
    every: count('every', values.every) ?? 1,
    jobs: count('jobs', values.jobs) ?? 1,
  };
};

const main = async ({ off, jobs, ...chosen }: CommandLine): Promise<number> => {
  const [all, ...rows] = await playAll([undefined, ...off], chosen, jobs);
  if (all === undefined) throw new Error('worth: nothing was played');
  write(`${tableOfScenarios(all.outcomes)}\n\n${tableOfRules(all.outcomes, rows)}`);
  return 0;
};

await runCommand(usage, readLine, main);
