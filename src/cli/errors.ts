/** An error of the command line. It is printed with the usage, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A failure of a command, with a message for users. The exit code is 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** Further lines of the message. */
  readonly details: readonly string[];

  constructor(message: string, details: readonly string[] = []) {
    super(message);
    this.details = details;
  }
}

// Errors are recognized by name, because the simulator's bundle has its own copies of the classes.

export const isUsageError = (error: unknown): error is UsageError =>
  error instanceof Error && error.name === 'UsageError';

export const isCommandError = (error: unknown): error is CommandError =>
  error instanceof Error && error.name === 'CommandError';
