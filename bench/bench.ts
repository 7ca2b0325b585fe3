// The black-box benchmark: runs a program as a process against a simulated seed and measures it from outside.
import { writeFileSync } from 'node:fs';
import { runCommand, write } from './harness/command.ts';
import { type CommandLine, type PartName, readCommandLine, usage } from './harness/options.ts';
import { type BenchOptions, type PartResult, machine } from './harness/part.ts';
import { runMassOutage } from './parts/outage.ts';
import { runRace } from './parts/race.ts';
import { runMassRecovery } from './parts/recovery.ts';
import { runSteady } from './parts/steady.ts';

const run: Readonly<Record<PartName, (options: BenchOptions) => Promise<PartResult>>> = {
  steady: runSteady,
  outage: runMassOutage,
  recovery: runMassRecovery,
  race: runRace,
};

const play = async (line: CommandLine): Promise<number> => {
  const startedAt = new Date().toISOString();
  const results = new Map<PartName, PartResult>();
  const note = line.quick ? ' A quick run: the figures mean nothing.' : '';
  write(`# Benchmark of ${line.target.name}\n\n${startedAt}, ${machine()}.${note}`);
  for (const part of line.parts) {
    const result = await run[part](line);
    results.set(part, result);
    write(`\n${result.markdown}`);
  }
  const missed = [...results.values()].flatMap((result) => result.missed);
  const parts = Object.fromEntries(Array.from(results, ([name, { json }]) => [name, json]));
  const figures = JSON.stringify({ startedAt, machine: machine(), missed, ...parts });
  const aims = missed.length === 0 ? ['All were met.'] : missed.map((what) => `Missed: ${what}.`);
  write(['', '## Aims', '', ...aims, '', '```json', figures, '```'].join('\n'));
  if (line.json !== undefined) writeFileSync(line.json, `${figures}\n`);
  return [...results.values()].some(({ isLost }) => isLost === true) ? 1 : 0;
};

await runCommand(usage, () => readCommandLine(process.argv.slice(2)), play);
