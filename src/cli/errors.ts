/** An error of the command line. It is printed with the usage, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
