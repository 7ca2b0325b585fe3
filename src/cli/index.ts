import { demoCommand } from './demo.ts';
import type { CliIo } from './io.ts';
import { proberCommand, type RunProber } from './prober.ts';
import { runProgram } from './program.ts';
import { schemaCommand } from './schema.ts';
import { validateCommand } from './validate.ts';
import { versionCommand } from './version.ts';

export type { CliIo } from './io.ts';
export type { RunProber } from './prober.ts';
export { runProcess } from './process.ts';

/** What the commands run; each is a function of `src/app`. */
export interface Components {
  readonly runProber: RunProber;
}

/** The program `dwd`. Resolves with the exit code; rejects only with what is a bug. */
export const runCli = (io: CliIo, { runProber }: Components): Promise<number> =>
  runProgram([proberCommand(runProber), validateCommand, schemaCommand, demoCommand, versionCommand], io);
