// The black-box benchmark: programs as processes against a simulated seed, measured from outside.
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release } from 'node:os';
import { systemClock } from '../src/runtime/index.ts';
import { runCare } from './care/part.ts';
import { runMassOutage } from './mass-outage/part.ts';
import { runMassRecovery } from './mass-recovery/part.ts';
import { runSteady } from './steady/part.ts';
import { type CommandLine, type PartName, readCommandLine, usage } from './support/options.ts';
import type { BenchOptions, PartResult } from './support/part.ts';

const run: Readonly<Record<PartName, (options: BenchOptions) => Promise<PartResult>>> = {
  steady: runSteady,
  outage: runMassOutage,
  recovery: runMassRecovery,
  care: runCare,
};

const clock = systemClock();

const machine = (): string => {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${String(availableParallelism())} x ${model}, Linux ${release()}, Node ${process.version}`;
};

const play = async (line: CommandLine): Promise<void> => {
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  const write = (text: string): void => void process.stdout.write(`${text}\n`);
  const startedAt = new Date(clock.now()).toISOString();
  const results: Partial<Record<PartName, PartResult>> = {};
  write(`# Benchmark\n\n${startedAt}, ${machine()}.${line.quick ? ' A quick run: the figures mean nothing.' : ''}`);
  for (const part of line.parts) {
    const result = await run[part]({ ...line, clock, say });
    results[part] = result;
    write(`\n${result.markdown}`);
  }
  const missed = Object.values(results).flatMap((result) => result.missed);
  const parts = Object.fromEntries(Object.entries(results).map(([name, { json }]) => [name, json]));
  const figures = JSON.stringify({ startedAt, machine: machine(), missed, ...parts });
  write(
    ['', '## Aims', '', ...(missed.length === 0 ? ['All were met.'] : missed.map((what) => `Missed: ${what}.`))].join(
      '\n',
    ),
  );
  write(['', '```json', figures, '```'].join('\n'));
  if (line.json !== undefined) writeFileSync(line.json, `${figures}\n`);
};

const main = async (): Promise<number> => {
  let line: CommandLine;
  try {
    line = readCommandLine(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  await play(line);
  return 0;
};

// What it started ends with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.exitCode = await main();
