import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { waitFor } from '../../envtest/waiting.ts';
import { type Program, startProgram } from './program.ts';
import { startInTerminal } from './terminal.ts';

/** A run of `dwd demo`. */
export interface Show extends Program {
  /** Directory of its temporary files. */
  readonly directory: string;
  /** Waits until it has printed this. */
  untilShown(what: RegExp | string): Promise<unknown>;
  /** Waits until its files and its processes are gone. */
  untilNothingIsLeft(): Promise<unknown>;
  /** Returns the processes that it has started: their arguments contain its directory. */
  processes(): readonly string[];
}

/** Starts the demo, in a terminal or without one, and ends it with the test. */
export const showDemo = (args: readonly string[] = [], place: 'pipe' | 'terminal' = 'pipe'): Show => {
  const directory = mkdtempSync(join(tmpdir(), 'dwd-demo-test-'));
  const env = { TMPDIR: directory, NO_COLOR: '1', FORCE_COLOR: undefined };
  const program =
    place === 'pipe'
      ? startProgram(['demo', ...args], { env })
      : startInTerminal(['dwd', 'demo', ...args].join(' '), { env });
  const processes = (): readonly string[] =>
    execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(directory));
  onTestFinished(async () => {
    program.signal('SIGKILL');
    await program.ended;
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    ...program,
    directory,
    processes,
    untilShown: (what) =>
      waitFor({ what: `it shows ${String(what)}`, everyMs: 100, detail: program.output }, () =>
        typeof what === 'string' ? program.output().includes(what) : what.test(program.output()),
      ),
    untilNothingIsLeft: () =>
      waitFor({ what: 'its files and its processes are gone', everyMs: 100 }, () => {
        return readdirSync(directory).length === 0 && processes().length === 0;
      }),
  };
};
