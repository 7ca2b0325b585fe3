import { CommandError } from './errors.ts';
import type { CliIo } from './io.ts';

/** Reads the file that a flag names. Rejects with a CommandError. */
export const readFlagFile = async (
  flag: string,
  path: string,
  { readFile }: Pick<CliIo, 'readFile'>,
): Promise<string> => {
  try {
    return await readFile(path);
  } catch (error) {
    throw new CommandError(`cannot read --${flag} ${path}: ${(error as Error).message}`);
  }
};
