/** The command line is wrong: printed with the usage, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot do its work and says why in one message for people, exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** More of it, a line each. */
  readonly details: readonly string[];

  constructor(message: string, details: readonly string[] = []) {
    super(message);
    this.details = details;
  }
}

// By name, as the simulator's bundle has classes of its own.

export const isUsageError = (error: unknown): error is UsageError =>
  error instanceof Error && error.name === 'UsageError';

export const isCommandError = (error: unknown): error is CommandError =>
  error instanceof Error && error.name === 'CommandError';
