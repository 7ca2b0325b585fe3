import { closeSync, mkdirSync, openSync, readdirSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliIo, CommandError, userError } from '../../src/cli/index.ts';
import { systemClock, whenAborted } from '../../src/process/index.ts';
import { type DemoWorldOptions, openWorld } from '../demo/index.ts';

/** Files that this process writes into a directory of the user. It never touches other files there. */
interface OwnFiles {
  /** Writes a new file that only its owner can read; returns its path. Throws a CommandError if the file exists or cannot be written. */
  readonly save: (name: string, text: string) => string;
  /** Removes the saved files, and the directory if this process created it and it holds nothing else. */
  readonly remove: () => void;
}

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

const refused = (directory: string, error: unknown): CommandError =>
  new CommandError(`cannot use --serve-world ${directory}: ${userError(error).message}`);

/** Returns true if it created the directory, false if the path existed. Throws other errors of `mkdir`. */
const make = (directory: string): boolean => {
  try {
    mkdirSync(directory, { mode: 0o700 });
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  }
};

/** Creates the directory or checks that it is empty. Throws a CommandError if it is not empty or cannot be used. */
const claim = (directory: string): { readonly isMade: boolean; readonly realPath: string } => {
  try {
    const isMade = make(directory);
    const [held] = readdirSync(directory);
    if (held === undefined) return { isMade, realPath: realpathSync(directory) };
    throw new Error(`it is not empty, it holds ${held}; name an empty or a new directory`);
  } catch (error) {
    throw refused(directory, error);
  }
};

const filesIn = (directory: string): OwnFiles => {
  // If the path is a link that changes meanwhile, files must not be removed elsewhere.
  const { isMade, realPath } = claim(directory);
  const saved: string[] = [];
  return {
    save: (name, text) => {
      const path = join(realPath, name);
      try {
        const file = openSync(path, 'wx', 0o600);
        saved.push(path);
        writeFileSync(file, text);
        closeSync(file);
      } catch (error) {
        throw refused(directory, error);
      }
      return path;
    },
    remove: () => {
      for (const path of saved) rmSync(path, { force: true });
      if (!isMade) return;
      try {
        rmdirSync(realPath);
      } catch (error) {
        // The user has put something into the directory, or has removed it.
        if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'ENOENT') throw error;
      }
    },
  };
};

/**
 * Serves the demo's world until stdin ends or a signal arrives. Writes its kubeconfigs to `directory`, which must be empty or new, prints
 * their paths by name in one line of JSON, and in the end removes only what it wrote.
 */
export const serveDemoWorld = async (
  { directory, ...options }: Omit<DemoWorldOptions, 'clock'> & { readonly directory: string },
  io: CliIo,
): Promise<number> => {
  const stop = io.stopOnSignals();
  const files = filesIn(directory);
  try {
    const served = await openWorld({ ...options, clock: systemClock() });
    try {
      const paths = Array.from(served.kubeconfigs, ([name, text]) => [name, files.save(`${name}.kubeconfig`, text)]);
      io.stdout(`${JSON.stringify(Object.fromEntries(paths))}\n`);
      await Promise.race([whenAborted(stop), io.readFile('-')]);
    } finally {
      await served.close();
    }
  } finally {
    files.remove();
  }
  return 0;
};
