// The black-box benchmark: runs a program as a process against a simulated seed and measures it from outside.
import { availableParallelism, cpus, release } from 'node:os';
import { runCommand, write } from './harness/command.ts';
import { type BenchOptions, type PartName, readCommandLine, usage } from './harness/options.ts';
import { runMassOutage } from './parts/outage.ts';
import { runRace } from './parts/race.ts';
import { runMassRecovery } from './parts/recovery.ts';
import { runSteady } from './parts/steady.ts';

/** Each prints its figures, and returns false if something could not be measured or the race is lost. */
const run: Readonly<Record<PartName, (options: BenchOptions) => Promise<boolean>>> = {
  steady: runSteady,
  outage: runMassOutage,
  recovery: runMassRecovery,
  race: runRace,
};

const play = async (options: BenchOptions): Promise<number> => {
  const machine = `${String(availableParallelism())} x ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Linux ${release()}`;
  write(`# Benchmark of ${options.target.name}\n\n${new Date().toISOString()}, ${machine}, Node ${process.version}.`);
  let isGood = true;
  for (const part of options.parts) isGood = (await run[part](options)) && isGood;
  return isGood ? 0 : 1;
};

await runCommand(usage, () => readCommandLine(process.argv.slice(2)), play);
