import { expect } from 'vitest';
import { commandsOf } from '../../src/cli/index.ts';

export const nothing = async (): Promise<never> => expect.unreachable('commands are only read about');

/** All commands of the program, with functions that fail if they are run. */
export const commands = commandsOf({
  runProber: nothing,
  runWeeder: nothing,
  runCare: { process: nothing, once: nothing },
  runPreflight: nothing,
  runStatus: nothing,
  runPause: nothing,
  runResume: nothing,
  runRelease: nothing,
  runRehearse: nothing,
  runDemo: nothing,
});
