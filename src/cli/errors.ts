import type { CommandError } from '../process/index.ts';

/** An error of the command line. It is printed with the usage, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

// Errors are recognized by name, because the simulator's bundle has its own copies of the classes.

export const isUsageError = (error: unknown): error is UsageError =>
  error instanceof Error && error.name === 'UsageError';

export const isCommandError = (error: unknown): error is CommandError =>
  error instanceof Error && error.name === 'CommandError';
