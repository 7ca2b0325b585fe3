// The black-box benchmark: runs programs as processes against a simulated seed and measures them from outside.
import { writeFileSync } from 'node:fs';
import { systemClock } from '../src/process/clock.ts';
import { runCommand, say, write } from './harness/command.ts';
import { machine } from './harness/machine.ts';
import { type CommandLine, type PartName, readCommandLine, usage } from './harness/options.ts';
import type { BenchOptions, PartResult } from './harness/part.ts';
import { runAttacked } from './parts/attacked.ts';
import { runCare } from './parts/care.ts';
import { runOperate } from './parts/operate.ts';
import { runMassOutage } from './parts/outage.ts';
import { runMassRecovery } from './parts/recovery.ts';
import { runStarved } from './parts/starved.ts';
import { runSteady } from './parts/steady.ts';

const run: Readonly<Record<PartName, (options: BenchOptions) => Promise<PartResult>>> = {
  steady: runSteady,
  outage: runMassOutage,
  starved: runStarved,
  attacked: runAttacked,
  recovery: runMassRecovery,
  care: runCare,
  operate: runOperate,
};

const clock = systemClock();

const play = async (line: CommandLine): Promise<number> => {
  const startedAt = new Date(clock.now()).toISOString();
  const results = new Map<PartName, PartResult>();
  write(`# Benchmark\n\n${startedAt}, ${machine()}.${line.quick ? ' A quick run: the figures mean nothing.' : ''}`);
  for (const part of line.parts) {
    const result = await run[part]({ ...line, clock, say });
    results.set(part, result);
    write(`\n${result.markdown}`);
  }
  const missed = [...results.values()].flatMap((result) => result.missed);
  const parts = Object.fromEntries(Array.from(results, ([name, { json }]) => [name, json]));
  const figures = JSON.stringify({ startedAt, machine: machine(), missed, ...parts });
  const aims = missed.length === 0 ? ['All were met.'] : missed.map((what) => `Missed: ${what}.`);
  write(['', '## Aims', '', ...aims, '', '```json', figures, '```'].join('\n'));
  if (line.json !== undefined) writeFileSync(line.json, `${figures}\n`);
  return 0;
};

await runCommand(usage, () => readCommandLine(process.argv.slice(2)), play);
