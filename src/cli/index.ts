import { type RunCare, careCommand } from './care.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion.ts';
import { type RunDemo, demoCommand } from './demo.ts';
import { explainCommand } from './explain.ts';
import type { CliIo } from './io.ts';
import { type RunPage, pageCommand } from './page.ts';
import { type RunPause, type RunResume, pauseCommand, resumeCommand } from './pause.ts';
import { type RunPreflight, preflightCommand } from './preflight.ts';
import { type RunProber, proberCommand } from './prober.ts';
import { runProgram } from './program.ts';
import { type RunRehearse, rehearseCommand } from './rehearse.ts';
import { type RunRelease, releaseCommand } from './release.ts';
import { schemaCommand } from './schema.ts';
import { type RunStatus, statusCommand } from './status.ts';
import { validateCommand } from './validate.ts';
import { versionCommand } from './version.ts';
import { type RunWeeder, weederCommand } from './weeder.ts';

export { CommandError } from '../process/index.ts';
export { loadConfigFile } from './config-file.ts';
export type { RunDemo } from './demo.ts';
export { UsageError } from './errors.ts';
export type { CliIo } from './io.ts';
export { formatDocument } from './output.ts';
export { limitsFrom } from './process-flags.ts';
export type { RunRehearse } from './rehearse.ts';
export { runProcess } from './run-process.ts';
export { loadSimulator } from './simulator.ts';

/** The implementations of the commands. main.ts loads each one on first use. */
export interface Runners {
  readonly runProber: RunProber;
  readonly runWeeder: RunWeeder;
  readonly runCare: RunCare;
  readonly runPreflight: RunPreflight;
  readonly runStatus: RunStatus;
  readonly runPage: RunPage;
  readonly runPause: RunPause;
  readonly runResume: RunResume;
  readonly runRelease: RunRelease;
  readonly runRehearse: RunRehearse;
  readonly runDemo: RunDemo;
}

/** The commands in the order of the help text. */
export const commandsOf = (runners: Runners): readonly Command[] => {
  const { runProber, runWeeder, runCare, runPreflight, runStatus, runRehearse, runDemo } = runners;
  const { runPage, runPause, runResume, runRelease } = runners;
  return [
    ...[proberCommand(runProber), weederCommand(runWeeder), careCommand(runCare)],
    ...[validateCommand, schemaCommand],
    preflightCommand(runPreflight),
    ...[statusCommand(runStatus), explainCommand(runStatus), pageCommand(runPage)],
    ...[pauseCommand(runPause), resumeCommand(runResume), releaseCommand(runRelease)],
    ...[rehearseCommand(runRehearse), demoCommand(runDemo)],
    completionCommand,
    versionCommand,
  ];
};

/** Runs the program `dwd`. Resolves with the exit code; rejects only because of a bug. */
export const runCli = (io: CliIo, runners: Runners): Promise<number> => runProgram(commandsOf(runners), io);
